package simulation

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/offline"
)

// types asks what each type in question resolves to.
func (c *comparison) types(ctx context.Context) error {
	asking := &asking{comparison: c, clusters: [2]*offline.Cluster{c.now.withoutSchemas(c.options), c.then.withoutSchemas(c.options)}}
	asked := c.questions()
	for _, serviceType := range slices.Sorted(maps.Keys(asked)) {
		for _, alike := range c.alike(asked[serviceType]) {
			if err := asking.group(ctx, serviceType, alike); err != nil {
				return err
			}
		}
	}
	return nil
}

// asking asks what types resolve to, now and then.
type asking struct {
	*comparison

	clusters [2]*offline.Cluster
}

// An answer is what a type resolves to now and then.
type answer [2]Resolution

// in is the answer of one namespace, said of another.
func (a answer) in(namespace, other string) answer {
	for i := range a {
		a[i].Refusal = strings.ReplaceAll(a[i].Refusal, namespace, other)
	}
	return a
}

// group asks about a type in namespaces that are alike: the first, and if that is refused the
// second. If what they answer differs in no more than their names, no others are asked.
func (a *asking) group(ctx context.Context, serviceType string, namespaces []string) error {
	var first answer
	like := false
	for i, namespace := range namespaces {
		found := first.in(namespaces[0], namespace)
		if !like {
			var err error
			if found, err = a.ask(ctx, question{serviceType, namespace}); err != nil {
				return err
			}
		}
		switch i {
		case 0:
			first = found
			like = found[0].Refusal == "" && found[1].Refusal == ""
		case 1:
			like = reflect.DeepEqual(found, first.in(namespaces[0], namespace))
		}
		a.tell(question{serviceType, namespace}, found)
	}
	return nil
}

func (a *asking) ask(ctx context.Context, asked question) (found answer, err error) {
	for i, in := range []*side{a.now, a.then} {
		if found[i], err = resolution(ctx, in, a.clusters[i], asked); err != nil {
			return found, err
		}
	}
	return found, nil
}

// tell reports an answer, if it differs.
func (a *asking) tell(asked question, found answer) {
	was, is := found[0], found[1]
	if reflect.DeepEqual(was, is) {
		return
	}
	a.report.Types = append(a.report.Types, Type{Type: asked.serviceType, Namespace: asked.namespace, Now: was, Then: is})
	if was.Plan != "" && is.Refusal != "" && !is.Waits {
		a.report.Refusals = append(a.report.Refusals, Refusal{Kind: "ServiceType", Namespace: asked.namespace, Name: asked.serviceType, Message: is.Refusal})
	}
}

// resolution is what an instance gets that names a type alone. Schemas are not asked: the
// parameters that a plan may require are not part of the question.
func resolution(ctx context.Context, in *side, cluster *offline.Cluster, asked question) (Resolution, error) {
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": v1beta1.GroupVersion.String(), "kind": "ServiceInstance",
		"metadata": map[string]any{"generateName": "simulated-", "namespace": asked.namespace},
		"spec":     map[string]any{"serviceType": asked.serviceType},
	}}
	result, err := cluster.Create(ctx, offline.Request{Object: object, User: offline.Admin(), DryRun: true})
	if err != nil {
		return Resolution{}, fmt.Errorf("cannot ask for type %q in namespace %q: %w", asked.serviceType, asked.namespace, err)
	}
	if denied := result.Denied; denied != nil {
		return Resolution{Refusal: denied.ErrStatus.Message}, nil //nolint:nilerr // a denial is a result
	}
	ref, decided := planOf(result.Object)
	if !decided {
		return Resolution{Waits: true, Refusal: joined(result.Warnings)}, nil
	}
	applied, _ := v1beta1.ParseAppliedDefaults(result.Object.GetAnnotations()[v1beta1.AnnotationAppliedDefaults])
	resolved := Resolution{Plan: cmp.Or(applied.Plan, ref.Name), Class: applied.Class, Rule: applied.Rule}
	resolved.Costs = billOf(&in.offers, ref).listed()
	return resolved, nil
}

// A question is a type in a namespace.
type question struct{ serviceType, namespace string }

// questions are the types for which something may be different, and where.
func (c *comparison) questions() map[string]map[string]bool {
	asked := &asked{comparison: c, of: map[string]map[string]bool{}}
	if c.every {
		asked.add(asked.all(), asked.everywhere())
	}
	for i := range c.changes {
		if matters(&c.changes[i]) {
			asked.because(&c.changes[i])
		}
	}
	return asked.of
}
