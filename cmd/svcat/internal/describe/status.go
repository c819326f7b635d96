package describe

import (
	"fmt"
	"strings"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
)

// fullStatus is a status in a line, as in "Ready - The instance was provisioned
// @ 2018-01-11 20:59:47 +0000 UTC"; empty where no controller has said anything.
func fullStatus(conditions []v1beta1.Condition) string {
	word := v1beta1.LastConditionState(conditions)
	if word == "" {
		return ""
	}
	telling, ok := v1beta1.FindCondition(conditions, v1beta1.ConditionFailed)
	if !ok || telling.Status != v1beta1.ConditionTrue {
		telling, _ = v1beta1.FindCondition(conditions, v1beta1.ConditionReady)
	}
	return fmt.Sprintf("%s - %s @ %s", word, strings.TrimRight(telling.Message, "."), telling.LastTransitionTime.UTC())
}

// waiting is the status of what no controller has seen yet.
func waiting(decided bool) string {
	if decided {
		return catalog.Pending + " - no controller has seen it yet"
	}
	return catalog.Pending + " - no plan is decided on yet"
}
