package svcat_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// explainObject is a manifest of one of our kinds. meta and spec are the inside of YAML's
// braces.
func explainObject(kind, name, meta, spec string) string {
	if meta != "" {
		meta = ", " + meta
	}
	return fmt.Sprintf("{apiVersion: servicecatalog.k8s.io/v1beta1, kind: %s, metadata: {name: %s%s}, spec: {%s}}\n---\n", kind, name, meta, spec)
}

// An explainOffer is a class with its plans: the cluster's, or, if own, of the env's
// namespace. Their external names are their names.
type explainOffer struct {
	class, spec string
	own         bool
	plans       []explainPlan
}

// An explainPlan has the Kubernetes name CLASS-NAME-SUFFIX.
type explainPlan struct {
	name, spec string
	// is is "default" or "suggested".
	is     string
	labels string
}

// explainOffers applies classes and plans. Of a class called azure the external name is
// azure-SUFFIX, and its plans are called as they are.
func (e *testEnv) explainOffers(offers ...explainOffer) {
	e.Helper()
	var text strings.Builder
	for _, o := range offers {
		kind := "ClusterService"
		ref := "clusterServiceClassRef"
		if o.own {
			kind, ref = "Service", "serviceClassRef"
		}
		name := o.class + "-SUFFIX"
		text.WriteString(explainObject(kind+"Class", name, "", fmt.Sprintf("externalName: %s, externalID: %s%s", name, name, more(o.spec))))
		for _, p := range o.plans {
			var meta []string
			if p.is != "" {
				meta = append(meta, fmt.Sprintf(`annotations: {servicecatalog.kubernetes.io/is-%s-plan: "true"}`, p.is))
			}
			if p.labels != "" {
				meta = append(meta, "labels: {"+p.labels+"}")
			}
			text.WriteString(explainObject(kind+"Plan", o.class+"-"+p.name+"-SUFFIX", strings.Join(meta, ", "),
				fmt.Sprintf("externalName: %s, externalID: %s-%s-SUFFIX, %s: {name: %s}%s", p.name, o.class, p.name, ref, name, more(p.spec))))
		}
	}
	e.Apply(text.String())
}

func more(spec string) string {
	if spec == "" {
		return ""
	}
	return ", " + spec
}

// explainRecorded waits until the keeper has recorded a plan as the default of a type: in
// the cluster, or in the env's namespace if own.
func (e *testEnv) explainRecorded(serviceType, plan string, own bool) {
	e.Helper()
	e.Eventually(func() (bool, error) {
		var object client.Object = &v1beta1.ClusterServiceType{}
		key := client.ObjectKey{Name: e.Name(serviceType)}
		if own {
			object, key.Namespace = &v1beta1.ServiceType{}, e.Namespace
		}
		if err := e.Client().Get(e.Context(), key, object); err != nil {
			return false, err
		}
		spec := v1beta1.ServiceTypeSpec{}
		switch t := object.(type) {
		case *v1beta1.ClusterServiceType:
			spec = t.Spec
		case *v1beta1.ServiceType:
			spec = t.Spec
		}
		return spec.DefaultPlanRef != nil && spec.DefaultPlanRef.Name == e.Name(plan), nil
	})
}

// An explainAccount is what tests need of -o json.
type explainAccount struct {
	Subject    struct{ Kind, Namespace, Name, File string }
	Asks       map[string]string
	Then, Now  *explainDecision
	Difference string
	Notes      []string
}

type explainDecision struct {
	Verdict, Rule, Waits string
	Plan                 *struct{ Class, Plan, Scope, Name string }
	Recorded             bool
	Records              []struct {
		Kind, Type, Plan, Why string
		Believed              bool
	}
	Tiers []struct {
		Rule, State string
		Claims      []struct{ Title, Fate, Name string }
	}
	Others     []struct{ Title, Fate, Name string }
	Parameters []struct {
		Pointer, From string
		Value         any
		Removed       bool
	}
	Transforms []struct{ Does, From string }
	Warnings   []string
	Conditions []struct{ Type, Status string }
	Refusal    *struct {
		Code            int32
		Reason, Message string
	}
}

// explained is what svcat explains with -o json in the env's namespace.
func (e *testEnv) explained(stdin string, args ...string) []explainAccount {
	e.Helper()
	got := e.run(e.explainNamed(stdin), append([]string{"-n", e.Namespace, "explain", "-o", "json"}, args...)...)
	require.Zero(e, got.code, "%s%s", got.out, got.err)
	var report struct{ Explanations []explainAccount }
	require.NoError(e, json.Unmarshal([]byte(got.out), &report), got.out)
	return report.Explanations
}

// explainTree is what svcat explains for a terminal, in the env's namespace, without
// what differs from run to run.
func (e *testEnv) explainTree(stdin string, args ...string) string {
	e.Helper()
	if len(args) == 1 && strings.Contains(args[0], "/") && !strings.HasPrefix(args[0], "type/") {
		e.Eventually(func() (bool, error) {
			return len(e.explained("", args[0])[0].Then.Conditions) > 0, nil
		})
	}
	got := e.run(e.explainNamed(stdin), append([]string{"-n", e.Namespace, "explain"}, args...)...)
	require.Zero(e, got.code, "%s%s", got.out, got.err)
	var kept []string
	for line := range strings.SplitSeq(e.normal(got.out+got.err), "\n") {
		// What they say depends on the moment; that they are there is waited for.
		if !strings.Contains(line, "─ condition ") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}

// explainNamed is text with the env's suffix.
func (e *testEnv) explainNamed(text string) string {
	return strings.ReplaceAll(text, "SUFFIX", e.Suffix)
}
