package stack

import (
	"context"
	"errors"
	"fmt"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/e2e/stack/manifest"
	"github.com/defaultplan/defaultplan/e2e/stack/wait"
)

// InstallVAP applies the validating admission policies as shipped, and returns
// when the API server enforces them.
func InstallVAP(ctx context.Context, c client.Client) error {
	if err := manifest.ApplyFolder(ctx, c, "vap"); err != nil {
		return err
	}
	return enforcesPolicies(ctx, c)
}

// enforcesPolicies waits until the API server enforces all policies and bindings that are
// stored: it reads them in the order in which they were written, so it has when it
// enforces one that is created now.
func enforcesPolicies(ctx context.Context, c client.Client) (err error) {
	lastPolicy := "stack-last-policy-" + string(uuid.NewUUID()) // it refuses the ConfigMap of that name
	meta := metav1.ObjectMeta{Name: lastPolicy}
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{ObjectMeta: meta, Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
		MatchConstraints: &admissionregistrationv1.MatchResources{ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{
			ResourceNames: []string{lastPolicy},
			RuleWithOperations: admissionregistrationv1.RuleWithOperations{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
			},
		}}},
		Validations: []admissionregistrationv1.Validation{{Expression: "false"}},
	}}
	binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{ObjectMeta: meta, Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
		PolicyName: lastPolicy, ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
	}}
	for _, object := range []client.Object{policy, binding} {
		if err := c.Create(ctx, object); err != nil {
			return fmt.Errorf("cannot create the last policy: %w", err)
		}
		defer func() { err = errors.Join(err, c.Delete(context.WithoutCancel(ctx), object)) }()
	}
	return wait.Eventually(ctx, func() (bool, error) {
		trial := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: lastPolicy}}
		err := c.Create(ctx, trial, client.DryRunAll)
		switch {
		case err == nil:
			return false, errors.New("the API server does not enforce the last policy yet")
		case !apierrors.IsInvalid(err):
			return false, fmt.Errorf("cannot try the last policy: %w", err)
		}
		return true, nil
	})
}
