package diff

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
)

// consequences says in lines what follows from a change of an object: at its broker and in cost.
// Only instances and bindings have such.
func consequences(ctx context.Context, reader client.Reader, stored, merged *unstructured.Unstructured) ([]string, error) {
	switch merged.GetKind() {
	case "ServiceInstance":
		was, is, err := typed[v1beta1.ServiceInstance](stored, merged)
		if err != nil {
			return nil, err
		}
		call, err := instanceCall(ctx, reader, was, is)
		if err != nil {
			return nil, err
		}
		cost, err := costs(ctx, reader, is.Namespace, was.Spec.DecidedReference, is.Spec.DecidedReference)
		return told(call, cost), err
	case "ServiceBinding":
		was, is, err := typed[v1beta1.ServiceBinding](stored, merged)
		if err != nil || !is.Dedicated() {
			return told(bindingCall(stored != nil, was, is), ""), err
		}
		cost, err := costs(ctx, reader, is.Namespace, was.Spec.DecidedReference, is.Spec.DecidedReference)
		return told(bindingCall(stored != nil, was, is), cost), err
	}
	return nil, nil
}

func told(call, cost string) []string {
	lines := []string{"at the broker: " + call}
	if cost != "" {
		lines = append(lines, "cost: "+cost)
	}
	return lines
}

// typed are both objects as our types; the first is empty where there is none.
func typed[O any](stored, merged *unstructured.Unstructured) (was, is *O, err error) {
	was, is = new(O), new(O)
	if stored != nil {
		err = runtime.DefaultUnstructuredConverter.FromUnstructured(stored.Object, was)
	}
	if err == nil {
		err = runtime.DefaultUnstructuredConverter.FromUnstructured(merged.Object, is)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("cannot read what the API server answered: %w", err)
	}
	return was, is, nil
}

// bindingCall says what the controller asks of the broker for a binding: credentials, once.
func bindingCall(exists bool, was, is *v1beta1.ServiceBinding) string {
	switch {
	case is.DeletionTimestamp != nil:
		return deleting
	case !is.Spec.Decided():
		return undecided
	case !exists || !was.Spec.Decided():
		if is.Dedicated() {
			return "provision an instance of its own, then bind"
		}
		return "bind"
	}
	return "nothing: a binding is never changed at its broker"
}

// unknown is a cost that the catalog does not tell.
const unknown = "unknown"

// costs says what the plans cost that an object was and would be decided on; empty where none is
// decided.
func costs(ctx context.Context, reader client.Reader, namespace string, was, is v1beta1.DecidedReference) (string, error) {
	_, before := catalog.DecidedRefs(&was, namespace)
	_, after := catalog.DecidedRefs(&is, namespace)
	if after.Name == "" {
		return "", nil
	}
	now, err := cost(ctx, reader, namespace, &is)
	switch {
	case err != nil:
		return "", err
	case before == after:
		return "unchanged, " + now, nil
	case before.Name == "":
		return now, nil
	}
	then, err := cost(ctx, reader, namespace, &was)
	return then + " → " + now, err
}

// cost is what one plan costs, as its broker words it.
func cost(ctx context.Context, reader client.Reader, namespace string, decided *v1beta1.DecidedReference) (string, error) {
	plan, known, err := catalog.DecidedPlan(ctx, reader, decided, namespace)
	if err != nil || !known {
		return unknown, err
	}
	if price := catalog.Price(&plan); price != "" {
		return price, nil
	}
	return unknown, nil
}
