package explain

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/policy"
)

// Binding is as Instance.
func (a *Asker) Binding(ctx context.Context, key client.ObjectKey) (Explanation, error) {
	told := Explanation{Subject: Subject{Kind: KindBinding, Namespace: key.Namespace, Name: key.Name}}
	stored := &v1beta1.ServiceBinding{}
	if err := get(ctx, a.reader, key, stored, &v1beta1.ServiceBindingList{}, "binding"); err != nil {
		return told, err
	}
	applied := appliedOf(&stored.ObjectMeta)
	decided, err := then(ctx, a.reader, stored.InstanceKey().Namespace, &stored.Spec.DecidedReference, &applied, true)
	if err != nil {
		return told, err
	}
	decided.Parameters = storedParameters(stored.Spec.Parameters, &applied)
	of := applied.OfInstance()
	decided.ProvisionParameters = storedParameters(stored.Spec.ProvisionParameters, &of)
	decided.Transforms = storedTransforms(stored.Spec.SecretTransforms, &applied)
	decided.Conditions = conditionsOf(stored.Status.Conditions)
	asked := originalBinding(stored)
	told.Then = decided
	told.Asks = asksOf(&asked.Spec.PlanReference, asked.Spec.ServiceType, asked.Spec.PlanSelector, asked.Spec.InstanceRef)
	if told.Now, told.Notes, err = a.bind(ctx, asked, asked); err != nil {
		return told, err
	}
	told.Notes = append(noteDeletion(stored), told.Notes...)
	told.Difference = difference(told.Then, told.Now, "binding")
	return told, nil
}

// writtenBinding explains a binding of a file.
func (a *Asker) writtenBinding(ctx context.Context, asked *v1beta1.ServiceBinding, written *document) (told Explanation, err error) {
	told.Subject = written.subject()
	told.Asks = asksOf(&asked.Spec.PlanReference, asked.Spec.ServiceType, asked.Spec.PlanSelector, asked.Spec.InstanceRef)
	told.Now, told.Notes, err = a.bind(ctx, asked, written.object)
	return told, err
}

// bind holds a binding, as its user writes it, against its instance, the policies
// and admission.
func (a *Asker) bind(ctx context.Context, asked *v1beta1.ServiceBinding, written client.Object) (*Now, []string, error) {
	if asked.Dedicated() {
		return a.claim(ctx, asked, written)
	}
	now := &Now{Verdict: Waits, Rule: ruleInstance, Secrets: secretsOf(asked.Spec.ParametersFrom)}
	instance, err := a.instanceOf(ctx, asked)
	if err != nil {
		return nil, nil, err
	}
	g := gatherer{a.reader, newSlice()}
	jobs := append(g.rulesOf(asked.Namespace), g.binding)
	var plan resolve.Ref
	if instance != nil {
		if _, plan = catalog.DecidedRefs(&instance.Spec.DecidedReference, instance.Namespace); plan.Name != "" {
			jobs = append(jobs, func(ctx context.Context) error { return g.plan(ctx, plan) })
		}
	}
	if err := together(ctx, jobs...); err != nil {
		return nil, nil, err
	}
	if err := g.complete(ctx); err != nil {
		return nil, nil, err
	}
	if view, ok := g.plans[plan]; ok {
		if class, ok := g.class(view); ok {
			told := planOf(new(class.ClassEntry()), new(view.PlanEntry()))
			now.Plan, now.Price = &told, g.price(plan)
			to := &policy.Instance{Namespace: instance.Namespace, Name: instance.Name, Labels: instance.Labels}
			a.chooser.bind(now, g.slice, class, view, to, asked)
		}
	}
	if _, err := a.admission.apply(ctx, now, bindingMatter(g.slice, instance), written); err != nil {
		return nil, nil, err
	}
	return now, g.notes, nil
}

// instanceOf is the instance of a binding: of the same files, or of the cluster.
// It is nil if there is none.
func (a *Asker) instanceOf(ctx context.Context, binding *v1beta1.ServiceBinding) (*v1beta1.ServiceInstance, error) {
	if binding.Spec.InstanceRef == nil || binding.Spec.InstanceRef.Name == "" {
		return nil, nil
	}
	key := binding.InstanceKey()
	if instance := a.admitted[key]; instance != nil {
		return instance, nil
	}
	instance := &v1beta1.ServiceInstance{}
	err := a.reader.Get(ctx, key, instance)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot get instance %q: %w", key.Name, err)
	}
	return instance, nil
}
