package offline

import (
	"context"
	"fmt"
	"sync"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/cel/environment"
)

// A matcher is a hook's conditions, compiled when they are first asked.
type matcher struct {
	once     sync.Once
	compiled matchconditions.Matcher
}

// compiler compiles conditions as the API server does those that are stored.
var compiler = sync.OnceValue(func() cel.ConditionCompiler {
	return cel.NewConditionCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
})

// asks says whether the API server would ask the hook about a write.
func (h *hook) asks(ctx context.Context, w *write) (bool, error) {
	h.matches.once.Do(func() {
		expressions := make([]cel.ExpressionAccessor, len(h.conditions))
		for i := range h.conditions {
			expressions[i] = (*matchconditions.MatchCondition)(&h.conditions[i])
		}
		evaluator := compiler().CompileCondition(expressions, cel.OptionalVariableDeclarations{HasAuthorizer: true}, environment.StoredExpressions)
		fail := admissionregistrationv1.Fail
		h.matches.compiled = matchconditions.NewMatcher(evaluator, &fail, "webhook", "admit", h.name)
	})
	result := h.matches.compiled.Match(ctx, w.attributes(), nil, nil)
	if result.Error != nil {
		return false, fmt.Errorf("cannot evaluate the conditions of webhook %q: %w", h.name, result.Error)
	}
	return result.Matches, nil
}

// attributes are the write as the API server's own admission sees it.
func (w *write) attributes() *admission.VersionedAttributes {
	operation, of := admission.Create, w.object
	// An interface of a nil pointer would not be nil.
	var object, old runtime.Object
	if w.old != nil {
		operation, old = admission.Update, w.old
	}
	if w.object == nil {
		operation, of = admission.Delete, w.old
	} else {
		object = w.object
	}
	asked := admission.NewAttributesRecord(object, old, w.kind.GroupVersionKind, of.GetNamespace(), of.GetName(),
		w.kind.GroupVersion().WithResource(w.kind.Resource), "", operation, nil, false, &user.DefaultInfo{Name: w.user.Username, Groups: w.user.Groups})
	return &admission.VersionedAttributes{
		Attributes: asked, VersionedObject: admission.NewLazyObject(object), VersionedOldObject: admission.NewLazyObject(old), VersionedKind: w.kind.GroupVersionKind,
	}
}
