package svcat_test

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/stack/wait"
)

// A stall is a type of a test's own, with one class, in the cluster or in the test's
// namespace. Its plans have no type of their own but for "own".
type stall struct {
	*testEnv

	// at is its namespace, empty for the cluster.
	at string
	// kind is the type.
	kind string
}

// newOffer creates a class with these plans. A plan's Kubernetes name is its
// external name with the suffix.
func (e *testEnv) newOffer(namespaced bool, plans ...string) *stall {
	e.Helper()
	s := &stall{testEnv: e, kind: e.Name("mysql")}
	class, prefix, scope := "ClusterServiceClass", "Cluster", "cluster"
	if namespaced {
		s.at, class, prefix, scope = e.Namespace, "ServiceClass", "", "s"
	}
	manifest := fmt.Sprintf(`{apiVersion: servicecatalog.k8s.io/v1beta1, kind: %s, metadata: {name: azure-mysql-SUFFIX},
  spec: {externalName: azure-mysql-SUFFIX, externalID: azure-mysql-SUFFIX, serviceType: mysql-SUFFIX, bindable: true}}
`, class)
	ref := map[string]string{"cluster": "clusterServiceClassRef", "s": "serviceClassRef"}[scope]
	for _, plan := range plans {
		own := ""
		if plan == "own" {
			own = ", serviceType: mysql-SUFFIX"
		}
		manifest += fmt.Sprintf(`---
{apiVersion: servicecatalog.k8s.io/v1beta1, kind: %sServicePlan, metadata: {name: %s-SUFFIX},
  spec: {externalName: %s, externalID: %s-SUFFIX, %s: {name: azure-mysql-SUFFIX}%s}}
`, prefix, plan, plan, plan, ref, own)
	}
	e.Apply(manifest)
	return s
}

// newStall is newOffer where there is a keeper, which knows of the type.
func (e *testEnv) newStall(namespaced bool, plans ...string) *stall {
	e.Helper()
	s := e.newOffer(namespaced, plans...)
	// Both webhook and keeper know of the type.
	s.Eventually(func() (bool, error) {
		err := e.Client().Get(e.Context(), client.ObjectKeyFromObject(s.record()), s.record())
		return err == nil, client.IgnoreNotFound(err)
	})
	return s
}

// flags say where svcat is to look.
func (s *stall) flags() []string {
	if s.at == "" {
		return []string{"--cluster"}
	}
	return []string{"-n", s.at}
}

// record is the type's object, to read into.
func (s *stall) record() client.Object {
	if s.at == "" {
		return &api.ClusterServiceType{ObjectMeta: metav1.ObjectMeta{Name: s.kind}}
	}
	return &api.ServiceType{ObjectMeta: metav1.ObjectMeta{Namespace: s.at, Name: s.kind}}
}

// plan is a plan of the stall, to read into.
func (s *stall) plan(name string) client.Object {
	if s.at == "" {
		return &api.ClusterServicePlan{ObjectMeta: metav1.ObjectMeta{Name: s.Name(name)}}
	}
	return &api.ServicePlan{ObjectMeta: metav1.ObjectMeta{Namespace: s.at, Name: s.Name(name)}}
}

// recordIn is the plan that a type's object names.
func recordIn(object client.Object) (name string, confirmed bool) {
	var spec *api.ServiceTypeSpec
	var status *api.ServiceTypeStatus
	switch o := object.(type) {
	case *api.ClusterServiceType:
		spec, status = &o.Spec, &o.Status
	case *api.ServiceType:
		spec, status = &o.Spec, &o.Status
	}
	if spec.DefaultPlanRef == nil {
		return "", false
	}
	return spec.DefaultPlanRef.Name, status.Confirmed && status.ObservedGeneration == object.GetGeneration()
}

// standing is the default as it is stored: the record's plan, and those that are
// annotated, without the suffix.
func (s *stall) standing() (string, error) {
	kept := s.record()
	if err := s.Client().Get(s.Context(), client.ObjectKeyFromObject(kept), kept); err != nil {
		return "", client.IgnoreNotFound(err)
	}
	record, confirmed := recordIn(kept)
	annotated, err := s.annotated()
	if err != nil {
		return "", err
	}
	text := "record " + record
	if record != "" && !confirmed {
		text += "?"
	}
	text += ", annotated " + strings.Join(annotated, " ")
	return strings.ReplaceAll(text, "-"+s.Suffix, ""), nil
}

// annotated are the plans of the test that are annotated, sorted.
func (s *stall) annotated() ([]string, error) {
	found := map[string]bool{}
	visit := func(object client.Object) {
		if strings.HasSuffix(object.GetName(), s.Suffix) && object.GetAnnotations()[api.AnnotationDefaultPlan] == "true" {
			found[object.GetName()] = true
		}
	}
	var err error
	if s.at == "" {
		var list api.ClusterServicePlanList
		err = s.Client().List(s.Context(), &list)
		for i := range list.Items {
			visit(&list.Items[i])
		}
	} else {
		var list api.ServicePlanList
		err = s.Client().List(s.Context(), &list, client.InNamespace(s.at))
		for i := range list.Items {
			visit(&list.Items[i])
		}
	}
	return slices.Sorted(maps.Keys(found)), err
}

// comesTo waits until the default is stored so.
func (s *stall) comesTo(want string) {
	s.Helper()
	require.NoError(s, wait.Eventually(s.Context(), func() (bool, error) {
		got, err := s.standing()
		if err != nil || got == want {
			return err == nil, err
		}
		return false, fmt.Errorf("it is %q, not %q", got, want)
	}))
}

// gives is the plan that an instance gets which only names the type; empty if it is
// refused.
func (s *stall) gives() string {
	s.Helper()
	probe := &api.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "probe"}}
	probe.Spec.ServiceType = s.kind
	if err := s.Client().Create(s.Context(), probe, client.DryRunAll); err != nil {
		return ""
	}
	switch {
	case probe.Spec.ClusterServicePlanRef != nil:
		return strings.TrimSuffix(probe.Spec.ClusterServicePlanRef.Name, "-"+s.Suffix)
	case probe.Spec.ServicePlanRef != nil:
		return strings.TrimSuffix(probe.Spec.ServicePlanRef.Name, "-"+s.Suffix)
	}
	return ""
}

// mysql is the type in a sentence, made normal.
func (s *stall) mysql() string {
	if s.at == "" {
		return "mysql"
	}
	return "mysql in namespace NAMESPACE"
}

// set runs `svcat set` where the stall is; it must succeed.
func (s *stall) set(args ...string) outcome {
	s.Helper()
	got := s.trySet(args...)
	require.Zero(s, got.code, "svcat set %v: %s%s", args, got.out, got.err)
	return got
}

func (s *stall) trySet(args ...string) outcome {
	s.Helper()
	got := s.run("", append(append([]string{"set"}, args...), s.flags()...)...)
	return outcome{s.normal(got.out), busy.ReplaceAllString(s.normal(got.err), ""), got.code}
}

// busy is what svcat says on a machine that has much to do.
var busy = regexp.MustCompile(`(?m)^(Waiting for the keeper|The record of \S+ was written meanwhile).*\n`)

// kubectl runs kubectl in the environment's namespace; it must succeed.
func (s *stall) kubectl(stdin string, args ...string) {
	s.Helper()
	stdout, stderr, err := s.Stack.Kubectl(context.WithoutCancel(s.Context()), stdin, append([]string{"-n", s.Namespace}, args...)...)
	require.NoError(s, err, "%s%s", stdout, stderr)
}
