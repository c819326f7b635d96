package brokers

import (
	"io"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/complete"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/printer"
)

// writeBroker writes what register prints.
func writeBroker(w io.Writer, object client.Object) error {
	broker, _ := catalog.BrokerOf(object)
	var head printer.Pairs
	head.Add("Name:", object.GetName())
	head.Add("Scope:", string(broker.Origin()))
	head.AddSet("Namespace:", object.GetNamespace())
	head.Add("URL:", broker.URL())
	head.Add("Status:", statusOf(broker))
	return head.Write(w)
}

// statusOf is the state in a few words.
func statusOf(broker catalog.Broker) string {
	ready, ok := v1beta1.FindCondition(broker.Status.Conditions, v1beta1.ConditionReady)
	switch {
	case !ok:
		return "its catalog was not read yet"
	case ready.Status == v1beta1.ConditionTrue:
		return v1beta1.ConditionReady + " - " + ready.Message
	}
	return ready.Reason + " - " + ready.Message
}

// completions registers what to propose for flags.
func completions(cmd *cobra.Command) {
	complete.Flags(cmd, map[string]complete.Func{
		"scope":           complete.Words(inCluster, inNamespace),
		"relist-behavior": complete.Words("duration", "manual"),
	}, "url", "basic-secret", "bearer-secret", "class-restrictions", "plan-restrictions", "relist-duration")
}
