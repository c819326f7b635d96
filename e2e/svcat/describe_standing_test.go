package svcat_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// standingCatalog has, of each type, plans that stand for it in another way.
const standingCatalog = `
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ServiceClass
metadata: {name: first}
spec: {serviceBrokerName: none, externalID: first, externalName: first, serviceType: decided, description: x, bindable: true}
---
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ServiceClass
metadata: {name: second}
spec: {serviceBrokerName: none, externalID: second, externalName: second, serviceType: contested, description: x, bindable: true}
---
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ServiceClass
metadata: {name: third}
spec: {serviceBrokerName: none, externalID: third, externalName: third, description: x, bindable: true}
`

// A standingPlan is a plan of standingCatalog.
type standingPlan struct {
	// class, name and own type of the plan; mark is is-default-plan or
	// is-suggested-plan.
	class, name, own, mark string
	// cell is the column TYPE.
	cell                   string
	isDefault, isSuggested string
}

const stands = "true, and chosen while the type has no default"

var standingPlans = []standingPlan{
	{class: "first", name: "a", mark: "is-default-plan", cell: "decided*", isDefault: "true"},
	{class: "first", name: "b", cell: "decided", isDefault: "false"},
	{class: "first", name: "c", mark: "is-suggested-plan", cell: "decided", isDefault: "false", isSuggested: "true"},
	{class: "second", name: "d", own: "decided", mark: "is-suggested-plan", cell: "decided", isDefault: "false", isSuggested: "true"},
	{class: "second", name: "e", mark: "is-suggested-plan", cell: "contested", isDefault: "false", isSuggested: "true"},
	{class: "third", name: "f", own: "contested", mark: "is-suggested-plan", cell: "contested", isDefault: "false", isSuggested: "true"},
	{class: "third", name: "g", own: "offered", mark: "is-suggested-plan", cell: "offered*", isDefault: "false", isSuggested: stands},
	{class: "third", name: "h", cell: "", isDefault: "false"},
}

// TestStanding: the list, one plan of it, its class and its description agree about
// which plan stands for its type, whichever of the type's plans each reads.
func TestStanding(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	manifest := standingCatalog
	for _, plan := range standingPlans {
		annotations := ""
		if plan.mark != "" {
			annotations = `, annotations: {servicecatalog.kubernetes.io/` + plan.mark + `: "true"}`
		}
		manifest += `---
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ServicePlan
metadata: {name: ` + plan.name + annotations + `}
spec: {serviceBrokerName: none, serviceClassRef: {name: ` + plan.class + `}, externalID: ` + plan.name + `, externalName: ` + plan.name + `, serviceType: "` + plan.own + `", description: x}
`
	}
	e.Apply(manifest)
	all := rowsOf(e.Svcat("get", "plans"))
	for _, plan := range standingPlans {
		want := strings.Fields(plan.cell + " " + plan.name + " " + plan.class + " x ns (" + e.Namespace + ")")
		assert.Contains(t, all, want, "get plans")
		assert.Contains(t, rowsOf(e.Svcat("get", "plan", plan.class+"/"+plan.name)), want, "get plan")
		assert.Contains(t, rowsOf(e.Svcat("describe", "class", plan.class)), strings.Fields(plan.cell+" "+plan.name+" x"), "describe class")
		described := e.Svcat("describe", "plan", plan.class+"/"+plan.name)
		assert.Equal(t, plan.isDefault, valueOf(described, "Default:"), plan.name)
		assert.Equal(t, plan.isSuggested, valueOf(described, "Suggested:"), plan.name)
	}
	standing := rowsOf(e.Svcat("get", "plans", "--default"))
	require.Len(t, standing, 3, "and no more stand")
	assert.Equal(t, "the cluster's default plans", strings.Join(standing[2][:4], " "), "which count, too")
}

// rowsOf are the rows of a table, below its rule.
func rowsOf(printed string) (rows [][]string) {
	below := false
	for line := range strings.Lines(printed) {
		if below && strings.TrimSpace(line) != "" {
			rows = append(rows, strings.Fields(line))
		}
		below = below || strings.HasPrefix(line, "+-")
	}
	return rows
}

// valueOf is the value of a name in what is described; empty where it is not there.
func valueOf(printed, name string) string {
	for line := range strings.Lines(printed) {
		if value, is := strings.CutPrefix(strings.TrimSpace(line), name); is {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
