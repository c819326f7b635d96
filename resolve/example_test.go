package resolve_test

import (
	"fmt"

	"github.com/defaultplan/defaultplan/resolve"
)

func ExamplePlan() {
	catalog := resolve.Catalog{
		Classes: []resolve.ClassEntry{{Ref: resolve.Ref{Name: "997b8372"}, ExternalName: "azure-mysql", Type: "mysql"}},
		Plans: []resolve.PlanEntry{
			{Ref: resolve.Ref{Name: "427559f1"}, Class: "997b8372", ExternalName: "basic50"},
			{Ref: resolve.Ref{Name: "f9a3cc8e"}, Class: "997b8372", ExternalName: "premium-p1", Default: true},
		},
	}
	choice, err := resolve.Plan(resolve.Request{Namespace: "default", Seed: "default/mydb", Type: "mysql"}, catalog)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(choice.Rule, choice.Plan.Name)
	for _, c := range choice.Candidates() {
		fmt.Println(c.Title, "is", c.Fate)
	}
	// Output:
	// cluster-default f9a3cc8e
	// azure-mysql/basic50 (cluster) is not the default
	// azure-mysql/premium-p1 (cluster) is chosen
}
