package instances_test

import (
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
)

// wire is instance "db" in JSON, as the API server sends it.
func wire(e *env.Env) *unstructured.Unstructured {
	e.Helper()
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(api.GroupVersion.WithKind("ServiceInstance"))
	object.SetNamespace(e.Namespace)
	object.SetName("db")
	e.Get(object)
	return object
}

// assertHolding asserts what instance "db" holds.
func assertHolding(e *env.Env, want env.Holding, reason string) {
	e.Helper()
	assert.Empty(e, cmp.Diff(want, e.HoldingOf("db")), "(-want +got) %s", reason)
}
