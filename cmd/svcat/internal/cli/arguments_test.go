package cli

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
)

func TestKindOf(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"instance": "instance", "Instances": "instance", "si": "instance", "serviceinstance": "instance", "serviceinstances.v1beta1.servicecatalog.k8s.io": "instance",
		"csp": "plan", "clusterserviceplan.servicecatalog.k8s.io": "plan", "serviceclasses": "class", "provisioningpolicy": "policy",
		"cluster": "", "service": "", "pod": "", "": "",
	} {
		assert.Equal(t, want, KindOf(word), word)
	}
	assert.Equal(t, []string{"instances", "inst", "si"}, Aliases("instance"))
	assert.Equal(t, []string{"instance", "inst", "si"}, Aliases("instances"))
	assert.Empty(t, Aliases("pod"))
}

func TestDidYouMean(t *testing.T) {
	t.Parallel()
	kinds := []string{"class", "plan", "instance"}
	assert.Equal(t, " did you mean plan?", DidYouMean("plann", kinds))
	assert.Equal(t, " did you mean instance?", DidYouMean("instnce/mydb", kinds), "the name does not count")
	assert.Empty(t, DidYouMean("pod", kinds))
}

func TestWithoutKind(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"mydb": "mydb", "instance/mydb": "mydb", "serviceinstance.servicecatalog.k8s.io/mydb": "mydb",
		"binding/mydb": "binding/mydb", "dev/mydb": "dev/mydb", "instance/": "instance/",
	} {
		assert.Equal(t, want, WithoutKind("instance", name), name)
	}
}

func TestSplitKinds(t *testing.T) {
	t.Parallel()
	svcat := func() *cobra.Command {
		run := func(*cobra.Command, []string) {}
		root, get := &cobra.Command{Use: "svcat"}, &cobra.Command{Use: "get", Run: run}
		root.PersistentFlags().StringP("namespace", "n", "", "")
		get.AddCommand(&cobra.Command{Use: "instances", Run: run}, &cobra.Command{Use: "plans", Run: run, Aliases: []string{"plan"}})
		root.AddCommand(get, &cobra.Command{Use: "bind", Run: run})
		return root
	}
	cases := map[string]struct{ reason, given, want string }{
		"Instance":  {"the command of the kind is called", "get instance/mydb", "get instances mydb"},
		"Flags":     {"flags of the kind's command stay where they are", "-n dev get -o wide si/mydb --show", "-n dev get -o wide instances mydb --show"},
		"Kubectls":  {"what -o name prints is taken", "get serviceinstance.servicecatalog.k8s.io/mydb", "get instances mydb"},
		"Kinds":     {"kubectl's names are taken", "-n dev get serviceinstances -o wide", "-n dev get instances -o wide"},
		"FlagsKind": {"a namespace may be called like a kind", "get -n spl instances", "get -n spl instances"},
		"Plan":      {"a plan may be CLASS/PLAN", "get plan/mysql/small", "get plans mysql/small"},
		"PlanAlone": {"a class may be called like a kind", "get plan instance/small", "get plan instance/small"},
		"OtherKind": {"a kind without a command is refused by the command", "get pod/mydb", "get pod/mydb"},
		"NoNoun":    {"a command without kinds reads its arguments itself", "bind instance/mydb", "bind instance/mydb"},
		"Unknown":   {"no command at all", "gte instance/mydb", "gte instance/mydb"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, strings.Fields(tc.want), SplitKinds(svcat(), strings.Fields(tc.given)), tc.reason)
		})
	}
}
