package stack

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// guarded are instances that the shipped policies refuse, by policy.
var guarded = map[string]api.ServiceInstanceSpec{
	"undecided.servicecatalog.k8s.io":  {ServiceType: "stack-trial"},
	"unrecorded.servicecatalog.k8s.io": {DecidedReference: api.DecidedReference{ServicePlanRef: &api.LocalObjectReference{Name: "stack-trial"}}},
}

// InstallVAP applies the validating admission policies as shipped, and returns
// when the API server holds instances to them. While the hooks are installed that
// cannot be seen, because nothing that they admit is refused: install the policies
// first.
func (s *Stack) InstallVAP(ctx context.Context) error {
	if err := s.applyFolder(ctx, "vap"); err != nil {
		return err
	}
	return Eventually(ctx, func() (bool, error) { return s.guarded(ctx) })
}

// guarded says whether each policy refuses, in a dry run, what it is for.
func (s *Stack) guarded(ctx context.Context) (bool, error) {
	for policy, spec := range guarded {
		trial := &api.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "stack-trial-"}, Spec: spec}
		err := s.client.Create(ctx, trial, client.DryRunAll)
		if err == nil {
			return false, fmt.Errorf("policy %q admits what it is there to refuse", policy)
		}
		if !strings.Contains(err.Error(), policy) {
			return false, fmt.Errorf("cannot try policy %q: %w", policy, err)
		}
	}
	return true, nil
}
