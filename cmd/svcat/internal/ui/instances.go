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

// instances is the page of the namespace's instances and bindings.
func (s *site) instances(w http.ResponseWriter, r *http.Request) {
	instances, noInstances := s.instanceRows(r.Context())
	bindings, noBindings := s.bindingRows(r.Context(), "")
	failed := errors.Join(noInstances, noBindings)
	if _, lacking := lacksOf(failed); failed != nil && (!lacking || noInstances != nil && noBindings != nil) {
		s.fail(w, r, "instances", failed)
		return
	}
	content := s.page("Instances and bindings", "instances", failed)
	content.Body = map[string]any{"Instances": instances, "Bindings": bindings, "NoInstances": noInstances != nil, "NoBindings": noBindings != nil}
	render(w, r, http.StatusOK, "instances", content)
}

func (s *site) instanceRows(ctx context.Context) ([]instanceRow, error) {
	var rows []instanceRow
	err := catalog.Pages(ctx, s.client, &v1beta1.ServiceInstanceList{}, func(object runtime.Object) error {
		if instance, ok := object.(*v1beta1.ServiceInstance); ok {
			rows = append(rows, instanceRowOf(instance))
		}
		return nil
	}, client.InNamespace(s.namespace))
	slices.SortFunc(rows, func(a, b instanceRow) int { return cmp.Compare(a.Name, b.Name) })
	return rows, err
}

func instanceRowOf(instance *v1beta1.ServiceInstance) instanceRow {
	row := instanceRow{Name: instance.Name, Link: "/instances/" + url.PathEscape(instance.Name), Type: instance.Type()}
	row.State, row.Look = stateOf(instance.Status.Conditions)
	row.Class, row.Plan = catalog.ClassAndPlan(instance)
	return row
}

// bindingRows are the bindings of the namespace, or of one of its instances: those that
// name it, and the one whose own it is.
func (s *site) bindingRows(ctx context.Context, instance string) ([]bindingRow, error) {
	var rows []bindingRow
	err := catalog.Pages(ctx, s.client, &v1beta1.ServiceBindingList{}, func(object runtime.Object) error {
		binding, ok := object.(*v1beta1.ServiceBinding)
		of := types.NamespacedName{Namespace: s.namespace, Name: instance}
		if ok && (instance == "" || catalog.InstanceOf(binding) == of) {
			rows = append(rows, bindingRowOf(binding))
		}
		return nil
	}, client.InNamespace(s.namespace))
	slices.SortFunc(rows, func(a, b bindingRow) int { return cmp.Compare(a.Name, b.Name) })
	return rows, err
}

func bindingRowOf(binding *v1beta1.ServiceBinding) bindingRow {
	row := bindingRow{Name: binding.Name, Link: "/bindings/" + url.PathEscape(binding.Name), Secret: cmp.Or(binding.Spec.SecretName, binding.Name)}
	row.State, row.Look = stateOf(binding.Status.Conditions)
	row.Instance = catalog.InstanceTitle(binding)
	return row
}
