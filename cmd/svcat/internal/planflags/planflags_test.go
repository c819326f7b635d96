package planflags

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

func TestValidate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reason string
		flags  Flags
		wrong  string
	}{
		"Type":             {"the default", Flags{Type: "mysql"}, ""},
		"Class":            {"its only or default plan", Flags{Class: "a"}, ""},
		"ClassAndPlan":     {"both", Flags{Class: "a", Plan: "b"}, ""},
		"Plan":             {"CLASS/PLAN, or a plan that is the only one called so", Flags{Plan: "a/b"}, ""},
		"Selector":         {"labels", Flags{Selector: "Cores=4,tier in (a,b)"}, ""},
		"TypeAndClass":     {"a type narrows", Flags{Type: "mysql", Class: "a"}, ""},
		"TypeAndSelector":  {"a type narrows", Flags{Type: "mysql", Selector: "a=b"}, ""},
		"Nothing":          {"what?", Flags{}, "say which service"},
		"ClassAndSelector": {"which?", Flags{Class: "a", Selector: "a=b"}, "exclude each other"},
		"PlanAndSelector":  {"which?", Flags{Plan: "a", Selector: "a=b"}, "exclude each other"},
		"KubeNameOfNone":   {"the name of what?", Flags{Type: "mysql", KubeName: true}, "--kube-name says how --class and --plan are meant"},
		"KubeNameOfClass":  {"as it says", Flags{Class: "a", KubeName: true}, ""},
		"BrokenSelector":   {"no selector", Flags{Selector: "a in b"}, "--selector: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := c.flags.Validate()
			if c.wrong == "" {
				require.NoError(t, err, c.reason)
				return
			}
			require.ErrorContains(t, err, c.wrong, c.reason)
			assert.Equal(t, cli.ExitUsage, cli.ExitCode(err))
		})
	}
}

func TestReferences(t *testing.T) {
	t.Parallel()
	spec := v1beta1.CommonServiceClassSpec{ExternalName: "mysql"}
	class, _ := catalog.ClassOf(&v1beta1.ClusterServiceClass{ObjectMeta: metav1.ObjectMeta{Name: "id"}, Spec: v1beta1.ClusterServiceClassSpec{CommonServiceClassSpec: spec}})
	local, _ := catalog.ClassOf(&v1beta1.ServiceClass{ObjectMeta: metav1.ObjectMeta{Namespace: "dev", Name: "id"}, Spec: v1beta1.ServiceClassSpec{CommonServiceClassSpec: spec}})
	bare, _ := catalog.ClassOf(&v1beta1.ClusterServiceClass{ObjectMeta: metav1.ObjectMeta{Name: "id"}})
	plan, _ := catalog.PlanOf(&v1beta1.ClusterServicePlan{ObjectMeta: metav1.ObjectMeta{Name: "id"}})
	near, _ := catalog.PlanOf(&v1beta1.ServicePlan{ObjectMeta: metav1.ObjectMeta{Namespace: "dev", Name: "id"}})
	for name, c := range map[string]struct {
		reason string
		refer  func(*v1beta1.PlanReference)
		want   v1beta1.PlanReference
	}{
		"External":   {"people's names", func(r *v1beta1.PlanReference) { referToClass(r, class, false) }, v1beta1.PlanReference{ClusterServiceClassExternalName: "mysql"}},
		"Kube":       {"where they are asked for", func(r *v1beta1.PlanReference) { referToClass(r, class, true) }, v1beta1.PlanReference{ClusterServiceClassName: "id"}},
		"Namespaced": {"fields of its scope", func(r *v1beta1.PlanReference) { referToClass(r, local, false) }, v1beta1.PlanReference{ServiceClassExternalName: "mysql"}},
		"Nameless":   {"it has no other", func(r *v1beta1.PlanReference) { referToClass(r, bare, false) }, v1beta1.PlanReference{ClusterServiceClassName: "id"}},
		"Plan":       {"it has no other", func(r *v1beta1.PlanReference) { referToPlan(r, plan, false) }, v1beta1.PlanReference{ClusterServicePlanName: "id"}},
		"NearPlan":   {"fields of its scope", func(r *v1beta1.PlanReference) { referToPlan(r, near, false) }, v1beta1.PlanReference{ServicePlanName: "id"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := v1beta1.PlanReference{}
			c.refer(&got)
			assert.Equal(t, c.want, got, c.reason)
		})
	}
}
