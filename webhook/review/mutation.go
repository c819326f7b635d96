package review

import (
	"context"

	admissionv1 "k8s.io/api/admission/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// A Mutation completes one write of an object.
type Mutation interface {
	// Create completes a new object.
	Create(ctx context.Context) error
	// Update completes an object that is stored already.
	Update(ctx context.Context) error
	// BuildPatch writes down what is added to the write.
	BuildPatch()
}

// Mutate runs a Mutation for the request that it was made of; decided is what it decides.
func Mutate(ctx context.Context, req *admission.Request, m Mutation, decided *Result) (Result, error) {
	step := m.Update
	if req.Operation == admissionv1.Create {
		step = m.Create
	}
	if err := step(ctx); err != nil {
		return Result{Rule: RuleNone}, err
	}
	if decided.Denied == nil {
		m.BuildPatch()
	}
	return *decided, nil
}
