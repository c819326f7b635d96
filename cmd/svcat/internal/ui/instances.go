package ui

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/explain"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/rights"
)

// An instanceRow is an instance as a table shows it.
type instanceRow struct {
	Name, Link, State, Look string
	Type, Class, Plan       string
}

// A bindingRow is a binding as a table shows it.
type bindingRow struct {
	Name, Link, State, Look string
	Instance, Secret        string
}

// The orderPages are those about the instances and bindings of a namespace.
type orderPages struct {
	place

	reader client.Reader
	asker  *explain.Asker
	// flags are those with which commands reach the same cluster.
	flags string
}

// all is the page of the namespace's instances and bindings.
func (p orderPages) all(r *http.Request) (*answer, error) {
	instances, noInstances := p.instanceRows(r.Context())
	bindings, noBindings := p.bindingRows(r.Context(), "")
	failed := errors.Join(noInstances, noBindings)
	if _, lacking := rights.MissingIn(failed); failed != nil && (!lacking || noInstances != nil && noBindings != nil) {
		return nil, failed
	}
	return &answer{title: "Instances and bindings", missing: failed, body: map[string]any{
		"Instances": instances, "Bindings": bindings, "NoInstances": noInstances != nil, "NoBindings": noBindings != nil,
	}}, nil
}

func (p orderPages) instanceRows(ctx context.Context) ([]instanceRow, error) {
	var rows []instanceRow
	err := catalog.Pages(ctx, p.reader, &v1beta1.ServiceInstanceList{}, func(object runtime.Object) error {
		if instance, ok := object.(*v1beta1.ServiceInstance); ok {
			rows = append(rows, p.instanceRowOf(instance))
		}
		return nil
	}, client.InNamespace(p.namespace))
	slices.SortFunc(rows, func(a, b instanceRow) int { return cmp.Compare(a.Name, b.Name) })
	return rows, err
}

func (p place) instanceRowOf(instance *v1beta1.ServiceInstance) instanceRow {
	row := instanceRow{Name: instance.Name, Link: p.Link(instancePath(instance.Name)), Type: instance.Type()}
	row.State, row.Look = stateOf(instance.Status.Conditions)
	row.Class, row.Plan = catalog.ClassAndPlan(instance)
	return row
}

// instancePath is the path of an instance's page.
func instancePath(name string) string { return "/instances/" + url.PathEscape(name) }

// bindingRows are the bindings of the namespace, or of one of its instances: those that
// name it, and the one whose own it is.
func (p orderPages) bindingRows(ctx context.Context, instance string) ([]bindingRow, error) {
	var rows []bindingRow
	err := catalog.Pages(ctx, p.reader, &v1beta1.ServiceBindingList{}, func(object runtime.Object) error {
		binding, ok := object.(*v1beta1.ServiceBinding)
		of := types.NamespacedName{Namespace: p.namespace, Name: instance}
		if ok && (instance == "" || catalog.InstanceOf(binding) == of) {
			rows = append(rows, p.bindingRowOf(binding))
		}
		return nil
	}, client.InNamespace(p.namespace))
	slices.SortFunc(rows, func(a, b bindingRow) int { return cmp.Compare(a.Name, b.Name) })
	return rows, err
}

func (p place) bindingRowOf(binding *v1beta1.ServiceBinding) bindingRow {
	row := bindingRow{Name: binding.Name, Link: p.Link("/bindings/" + url.PathEscape(binding.Name)), Secret: cmp.Or(binding.Spec.SecretName, binding.Name)}
	row.State, row.Look = stateOf(binding.Status.Conditions)
	row.Instance = catalog.InstanceTitle(binding)
	return row
}

// stateOf is the state of an object in a word, and in the class of its colour.
func stateOf(conditions []v1beta1.Condition) (word, look string) {
	word = catalog.Status(conditions)
	switch word {
	case v1beta1.ConditionReady:
		return word, "good"
	case v1beta1.ConditionFailed:
		return word, "bad"
	}
	return word, waiting
}

// waiting is the class of the colour of what is neither ready nor failed.
const waiting = "waiting"
