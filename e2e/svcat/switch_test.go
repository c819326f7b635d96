package svcat_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// bothScopes are the two in which all of this is so.
var bothScopes = map[string]bool{"Cluster": false, "Namespace": true}

// The proposal's block "Select a default plan for a service type", with its very
// lines, in the cluster and in a namespace.
func TestSwitchPrintsTheProposalsLines(t *testing.T) {
	t.Parallel()
	for name, namespaced := range bothScopes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newEnv(t).newStall(namespaced, "basic50", "premium-p1", "own")
			first := s.set("plan", s.Name("basic50"), "--default")
			assert.Equal(t, "basic50 is the default plan for "+s.mysql()+"\n", first.out, "there was none before")
			assert.Empty(t, first.err, "that the keeper makes the type's object meanwhile is no news")
			assert.Equal(t, "basic50", s.gives())

			said := s.set("plan", s.Name("premium-p1"), "--default")
			assert.Empty(t, said.err)
			s.golden("switch"+map[bool]string{true: "-namespace"}[namespaced], "$ svcat set plan premium-p1 --default\n"+said.out)
			assert.Equal(t, "premium-p1", s.gives(), "from the moment that it returned")
			s.comesTo("record premium-p1, annotated premium-p1")

			// A plan that is named with its class, and that has the type itself.
			said = s.set("plan", "azure-mysql-"+s.Suffix+"/own", "--default")
			assert.Equal(t, "premium-p1 is no longer the default plan for "+s.mysql()+"\nown is the default plan for "+s.mysql()+"\n", said.out)
			s.comesTo("record own, annotated own")
		})
	}
}

// Once more is no switch, and mends what is not as it should be.
func TestSwitchToTheDefaultAlready(t *testing.T) {
	t.Parallel()
	s := newEnv(t).newStall(false, "basic50", "premium-p1")
	s.set("plan", s.Name("basic50"), "--default")
	s.comesTo("record basic50, annotated basic50")
	version := func() string {
		kept := s.record()
		s.Get(kept)
		return fmt.Sprint(kept.GetGeneration())
	}
	before := version()
	assert.Equal(t, "basic50 is the default plan for mysql already\n", s.set("plan", s.Name("basic50"), "--default").out)
	assert.Equal(t, before, version(), "the record was not written")

	// Recorded by hand, and again at once: the annotation is there when svcat returns.
	s.kubectl("", "patch", "clusterservicetype", s.kind, "--type=merge", "-p", `{"spec":{"defaultPlanRef":{"name":"`+s.Name("premium-p1")+`"}}}`)
	assert.Equal(t, "premium-p1 is the default plan for mysql already\n", s.set("plan", s.Name("premium-p1"), "--default").out)
	plan := s.plan("premium-p1")
	s.Get(plan)
	assert.Equal(t, "true", plan.GetAnnotations()[api.AnnotationDefaultPlan])
	s.comesTo("record premium-p1, annotated premium-p1")
}

// The same by svcat and by kubectl: the objects end alike, but for who wrote them.
func TestSwitchEndsAlikeByKubectl(t *testing.T) {
	t.Parallel()
	for name, namespaced := range bothScopes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bySvcat := newEnv(t).newStall(namespaced, "basic50", "premium-p1")
			byKubectl := newEnv(t).newStall(namespaced, "basic50", "premium-p1")
			for _, s := range []*stall{bySvcat, byKubectl} {
				s.set("plan", s.Name("basic50"), "--default")
				s.comesTo("record basic50, annotated basic50")
			}
			bySvcat.set("plan", bySvcat.Name("premium-p1"), "--default")
			resource := strings.ToLower(fmt.Sprintf("%T", byKubectl.record()))
			resource = resource[strings.LastIndex(resource, ".")+1:]
			byKubectl.kubectl("", "patch", resource, byKubectl.kind, "--type=merge", "-p", `{"spec":{"defaultPlanRef":{"name":"`+byKubectl.Name("premium-p1")+`"}}}`)
			for _, s := range []*stall{bySvcat, byKubectl} {
				s.comesTo("record premium-p1, annotated premium-p1")
			}
			for _, object := range []func(*stall) client.Object{(*stall).record, func(s *stall) client.Object { return s.plan("basic50") }, func(s *stall) client.Object { return s.plan("premium-p1") }} {
				bySvcat.Eventually(func() (bool, error) {
					one, other := bySvcat.shape(object(bySvcat)), byKubectl.shape(object(byKubectl))
					if one == other {
						return true, nil
					}
					return false, fmt.Errorf("svcat leaves\n%s\nand kubectl\n%s", one, other)
				})
			}
		})
	}
}

// shape is an object as stored, without its names, times, versions and writers.
func (s *stall) shape(object client.Object) string {
	s.Helper()
	s.Get(object)
	object.SetManagedFields(nil)
	object.SetUID("")
	object.SetResourceVersion("")
	object.SetCreationTimestamp(metav1.Time{})
	text := s.normal(indented(s.T, object))
	for _, label := range object.GetLabels() {
		if len(label) == 56 {
			text = strings.ReplaceAll(text, label, "HASH")
		}
	}
	return apiMoment.ReplaceAllString(text, "TIME")
}

// --default=false takes it off, whole, also right after a switch that the keeper had
// no time to confirm.
func TestSwitchOff(t *testing.T) {
	t.Parallel()
	for name, namespaced := range bothScopes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newEnv(t).newStall(namespaced, "basic50", "premium-p1")
			assert.Equal(t, "basic50 is not the default plan for "+s.mysql()+", which has none\n", s.set("plan", s.Name("basic50"), "--default=false").out)
			s.set("plan", s.Name("basic50"), "--default")
			assert.Equal(t, "premium-p1 is not the default plan for "+s.mysql()+"; azure-mysql/basic50 is\n", s.set("plan", s.Name("premium-p1"), "--default=false").out)
			assert.Equal(t, "basic50", s.gives())
			assert.Equal(t, "basic50 is no longer the default plan for "+s.mysql()+"\n", s.set("plan", s.Name("basic50"), "--default=false").out)
			assert.Empty(t, s.gives())
			s.comesTo("record , annotated ")
			for range 8 {
				s.set("plan", s.Name("premium-p1"), "--default")
				s.set("plan", s.Name("premium-p1"), "--default=false")
				assert.Empty(t, s.gives(), "as soon as it returned")
				s.comesTo("record , annotated ")
			}
		})
	}
}

// Dry runs print what would be, and write nothing.
func TestSwitchInADryRun(t *testing.T) {
	t.Parallel()
	s := newEnv(t).newStall(false, "basic50", "premium-p1")
	s.set("plan", s.Name("basic50"), "--default")
	s.comesTo("record basic50, annotated basic50")
	for _, mode := range []string{"client", "server"} {
		said := s.set("plan", s.Name("premium-p1"), "--default", "--dry-run="+mode).out
		assert.Equal(t, "basic50 is no longer the default plan for mysql ("+mode+" dry run)\npremium-p1 is the default plan for mysql ("+mode+" dry run)\n", said)
		assert.Equal(t, "basic50 is no longer the default plan for mysql ("+mode+" dry run)\n",
			s.set("plan", s.Name("basic50"), "--default=false", "--dry-run="+mode).out)
		got := s.set("plan", s.Name("premium-p1"), "--default", "--dry-run="+mode, "-o", "yaml").out
		assert.Contains(t, got, api.AnnotationDefaultPlan+`: "true"`, "the plan as it would be")
		got = s.set("plan", s.Name("basic50"), "--default=false", "--dry-run="+mode, "-o", "yaml").out
		assert.NotContains(t, got, api.AnnotationDefaultPlan)
		s.comesTo("record basic50, annotated basic50")
	}
	got := s.set("plan", s.Name("premium-p1"), "--default", "--weight", "3", "-o", "yaml")
	assert.Contains(t, got.out, api.AnnotationDefaultPlan+`: "true"`, "the object as it is after both")
	assert.Contains(t, got.out, "weight: 3")
	assert.NotContains(t, got.out, "is the default plan", "sentences are for people")
}

// What cannot be the default is refused with what to do, and changes nothing.
func TestSwitchRefused(t *testing.T) {
	t.Parallel()
	s := newEnv(t).newStall(false, "basic50")
	s.Apply(`{apiVersion: servicecatalog.k8s.io/v1beta1, kind: ClusterServiceClass, metadata: {name: typeless-SUFFIX}, spec: {externalName: typeless-SUFFIX, externalID: typeless-SUFFIX}}
---
{apiVersion: servicecatalog.k8s.io/v1beta1, kind: ClusterServicePlan, metadata: {name: typeless-SUFFIX}, spec: {externalName: typeless, externalID: typeless-plan-SUFFIX, clusterServiceClassRef: {name: typeless-SUFFIX}}}`)
	got := s.trySet("plan", s.Name("typeless"), "--default")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.err, "--type mysql")

	// With the type in the same command, it is no question.
	got = s.trySet("plan", s.Name("typeless"), "--default", "--type", s.kind)
	assert.Equal(t, "plan typeless/typeless: type mysql\ntypeless is the default plan for mysql\n", got.out)
	s.comesTo("record typeless, annotated typeless")

	removed := s.plan("basic50")
	require.NoError(t, s.Client().Status().Patch(t.Context(), removed, client.RawPatch(types.MergePatchType, []byte(`{"status":{"removedFromBrokerCatalog":true}}`))))
	got = s.trySet("plan", s.Name("basic50"), "--default", "--weight", "5")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.err, "removed from its broker's catalog")
	assert.Contains(t, got.err, "the plan is set, but not the default", "and what stands is told")
	s.comesTo("record typeless, annotated typeless")
}

// Who may not update the type is told so, as by kubectl; who may not edit plans
// switches all the same, and the keeper does the rest.
func TestSwitchTakesTheRightToTheType(t *testing.T) {
	t.Parallel()
	s := newEnv(t).newStall(false, "basic50", "premium-p1")
	s.set("plan", s.Name("basic50"), "--default")
	plans := s.userWith("plans", rbacv1.PolicyRule{APIGroups: []string{api.GroupName}, Resources: []string{"clusterserviceplans"}, Verbs: []string{"patch", "update"}})
	got := s.runAs(plans, "", "set", "plan", s.Name("premium-p1"), "--default", "--cluster")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.err, "Error from server (Forbidden)")
	assert.Contains(t, got.err, `cannot patch resource "clusterservicetypes"`)
	assert.Empty(t, got.out, "no line that is not true")
	got = s.runAs(plans, "", "set", "plan", s.Name("basic50"), "--default=false", "--cluster")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.err, "Error from server (Forbidden)")
	s.comesTo("record basic50, annotated basic50")
	patchers := s.userWith("patchers", rbacv1.PolicyRule{APIGroups: []string{api.GroupName}, Resources: []string{"clusterserviceplans"}, Verbs: []string{"patch", "update"}},
		rbacv1.PolicyRule{APIGroups: []string{api.GroupName}, Resources: []string{"clusterservicetypes"}, Verbs: []string{"update"}})
	got = s.runAs(patchers, "", "set", "plan", s.Name("basic50"), "--default=false", "--cluster")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.err, `cannot patch resource "clusterservicetypes"`, "admission would let him take the annotation off, and nothing is half done")
	s.comesTo("record basic50, annotated basic50")

	kinds := s.userWith("types", rbacv1.PolicyRule{APIGroups: []string{api.GroupName}, Resources: []string{"clusterservicetypes"}, Verbs: []string{"patch", "update"}})
	got = s.runAs(kinds, "", "set", "plan", s.Name("premium-p1"), "--default", "--cluster")
	assert.Zero(t, got.code, got.err)
	assert.Contains(t, got.out, "premium-p1 is the default plan for")
	assert.Contains(t, got.err, "the record decides, and the keeper annotates it")
	s.comesTo("record premium-p1, annotated premium-p1")
}
