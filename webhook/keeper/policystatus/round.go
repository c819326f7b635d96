package policystatus

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/defaultplan/defaultplan/webhook/catalog"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/keeper/controller"
)

// round reports on the policies that are due. It says how long the survey took,
// and whether anything is still due because it failed.
func (r *reconciler) round(ctx context.Context) (took time.Duration, failed bool) {
	began := r.options.Clock.Now()
	wanted := r.take()
	reports, err := r.survey(ctx, &wanted)
	took = r.options.Clock.Since(began)
	if err != nil {
		if ctx.Err() == nil {
			r.options.Log.Error(err, "policies not reported on; to be tried again")
		}
		r.want(r.queue, wanted)
		return took, true
	}
	for _, report := range reports {
		if !r.write(ctx, report) {
			r.want(r.queue, due{named: map[policyKey]bool{policyKeyOf(report.policy): true}})
			failed = true
		}
	}
	return took, failed
}

// survey finds out what the policies that are due select now.
func (r *reconciler) survey(ctx context.Context, wanted *due) ([]*report, error) {
	reports, err := r.policies(ctx, wanted)
	if err != nil || len(reports) == 0 {
		return nil, err
	}
	s := newSurvey(r.options.Client, reports)
	for _, look := range []func(context.Context) error{s.plans, s.namespaces, s.instances} {
		if err := look(ctx); err != nil {
			return nil, err
		}
	}
	return reports, nil
}

// policies are those that are due, with nothing found yet.
func (r *reconciler) policies(ctx context.Context, wanted *due) ([]*report, error) {
	var reports []*report
	add := func(policy client.Object, report func() *report) {
		if wanted.has(policyKeyOf(policy)) {
			reports = append(reports, report())
		}
	}
	s := catalog.Scope{Reader: r.options.Client}
	var provisioning v1beta1.ProvisioningPolicyList
	if err := s.List(ctx, &provisioning, nil); err != nil {
		return nil, err
	}
	for i := range provisioning.Items {
		policy := &provisioning.Items[i]
		add(policy, func() *report { return reportOnProvisioning(policy) })
	}
	var binding v1beta1.BindingPolicyList
	if err := s.List(ctx, &binding, nil); err != nil {
		return nil, err
	}
	for i := range binding.Items {
		policy := &binding.Items[i]
		add(policy, func() *report { return reportOnBinding(policy) })
	}
	return reports, nil
}

// write stores what was found of a policy, if that is news. It says whether that
// is done with, as it is with a policy that is gone.
func (r *reconciler) write(ctx context.Context, report *report) bool {
	found := report.status(metav1.NewTime(r.options.Clock.Now()))
	if apiequality.Semantic.DeepEqual(*report.stored, found) {
		return true
	}
	log := r.options.Log.WithValues("kind", report.kind(), "policy", report.policy.GetName())
	err := r.patch(ctx, report, &found)
	switch {
	case err == nil:
		log.V(1).Info("policy reported on", "plans", found.Plans, "namespaces", found.Namespaces)
		return true
	case apierrors.IsNotFound(err):
		return true
	case ctx.Err() == nil:
		controller.LogCause(log, err, "policy not reported on; to be tried again")
	}
	return false
}

func (r *reconciler) patch(ctx context.Context, report *report, status *v1beta1.PolicyStatus) error {
	reported := *status
	reported.Slots = nil // the slot allocator's: a merge patch leaves alone what it does not have
	data, err := json.Marshal(map[string]wholeStatus{"status": {&reported, status.PlanNames, status.NamespaceNames, status.Instances}})
	if err != nil {
		return fmt.Errorf("cannot encode the status of policy %q: %w", report.policy.GetName(), err)
	}
	ctx, cancel := context.WithTimeout(ctx, controller.WriteTimeout)
	defer cancel()
	policy := report.empty()
	policy.SetName(report.policy.GetName())
	return r.options.Client.Status().Patch(ctx, policy, client.RawPatch(types.MergePatchType, data))
}

// A wholeStatus is a status in a merge patch, after which it is as it is here,
// whatever was stored: what is left out of a status is null.
type wholeStatus struct {
	*v1beta1.PolicyStatus `json:",inline"`

	PlanNames      []string `json:"planNames"`
	NamespaceNames []string `json:"namespaceNames"`
	Instances      *int32   `json:"instances"`
}
