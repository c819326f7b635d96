package describe

import (
	"cmp"
	"io"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/printer"
)

// writeConditions writes conditions, one a line, Ready first and then by name; nothing
// where there are none.
func writeConditions(w io.Writer, conditions []v1beta1.Condition) error {
	if len(conditions) == 0 {
		return nil
	}
	sorted := slices.SortedFunc(slices.Values(conditions), func(a, b v1beta1.Condition) int {
		if isReady := a.Type == v1beta1.ConditionReady; isReady != (b.Type == v1beta1.ConditionReady) {
			return map[bool]int{true: -1, false: 1}[isReady]
		}
		return cmp.Compare(a.Type, b.Type)
	})
	var list printer.Pairs
	for _, condition := range sorted {
		list.Add(condition.Type+"="+string(condition.Status), condition.Reason+": "+condition.Message)
	}
	return writeList(w, "Conditions", &list)
}

// moment is a time as fullStatus writes it, empty for none.
func moment(at *metav1.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().String()
}
