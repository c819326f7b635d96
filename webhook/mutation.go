package webhook

import (
	"context"

	admissionv1 "k8s.io/api/admission/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// A mutation makes one write of an object whole.
type mutation interface {
	create(ctx context.Context) error
	update(ctx context.Context) error
	// buildPatch writes down what is added to the write.
	buildPatch()
	outcome() *verdict
}

// mutate runs a mutation for the request that it was made of.
func mutate(ctx context.Context, req *admission.Request, m mutation) (verdict, error) {
	step := m.update
	if req.Operation == admissionv1.Create {
		step = m.create
	}
	if err := step(ctx); err != nil {
		return verdict{rule: ruleNone}, err
	}
	if m.outcome().denied == nil {
		m.buildPatch()
	}
	return *m.outcome(), nil
}

// outcome lets whatever holds a verdict say it.
func (v *verdict) outcome() *verdict { return v }
