package explain

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/policy"
	"github.com/defaultplan/defaultplan/webhook/options"
)

// storedBinding explains a binding of the cluster.
func (x *explainer) storedBinding(ctx context.Context, key client.ObjectKey) (Explanation, error) {
	told := Explanation{Subject: Subject{Kind: KindBinding, Namespace: key.Namespace, Name: key.Name}}
	stored := &v1beta1.ServiceBinding{}
	if err := x.get(ctx, key, stored, &v1beta1.ServiceBindingList{}, "binding"); err != nil {
		return told, err
	}
	applied := appliedOf(&stored.ObjectMeta)
	then, err := x.then(ctx, stored.InstanceKey().Namespace, &stored.Spec.DecidedReference, &applied)
	if err != nil {
		return told, err
	}
	then.Parameters = storedParameters(stored.Spec.Parameters, &applied)
	of := applied.OfInstance()
	then.ProvisionParameters = storedParameters(stored.Spec.ProvisionParameters, &of)
	then.Transforms = storedTransforms(stored.Spec.SecretTransforms, &applied)
	then.Conditions = conditionsOf(stored.Status.Conditions)
	asked := originalBinding(stored)
	told.Then = then
	told.Asks = asksOf(&asked.Spec.PlanReference, asked.Spec.ServiceType, asked.Spec.PlanSelector, asked.Spec.InstanceRef)
	written, err := x.unstructured(asked)
	if err != nil {
		return told, err
	}
	if told.Now, told.Notes, err = x.bind(ctx, asked, written); err != nil {
		return told, err
	}
	told.Notes = append(noteDeletion(stored), told.Notes...)
	told.Difference = difference(told.Then, told.Now, "binding")
	return told, nil
}

// writtenBinding explains a binding of a file.
func (x *explainer) writtenBinding(ctx context.Context, written *unstructured.Unstructured, file string) (Explanation, error) {
	told := Explanation{Subject: Subject{Kind: KindBinding, Namespace: written.GetNamespace(), Name: nameOf(written), File: file}}
	asked := &v1beta1.ServiceBinding{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(written.Object, asked); err != nil {
		return told, fmt.Errorf("cannot read ServiceBinding %q of %s: %w", nameOf(written), file, err)
	}
	told.Asks = asksOf(&asked.Spec.PlanReference, asked.Spec.ServiceType, asked.Spec.PlanSelector, asked.Spec.InstanceRef)
	var err error
	told.Now, told.Notes, err = x.bind(ctx, asked, written)
	return told, err
}

// bind holds a binding, as its user writes it, against its instance, the policies
// and admission.
func (x *explainer) bind(ctx context.Context, asked *v1beta1.ServiceBinding, written *unstructured.Unstructured) (*Now, []string, error) {
	if asked.Dedicated() {
		return x.claim(ctx, asked, written)
	}
	now := &Now{Verdict: Waits, Rule: ruleInstance, Secrets: secretsOf(asked.Spec.ParametersFrom)}
	instance, err := x.instanceOf(ctx, asked)
	if err != nil {
		return nil, nil, err
	}
	g := gatherer{x.reader, newSlice()}
	jobs := append(g.rulesOf(asked.Namespace), g.binding)
	var plan resolve.Ref
	if instance != nil {
		if _, plan = refsOf(&instance.Spec.DecidedReference, instance.Namespace); plan.Name != "" {
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
			x.tellBound(now, g.slice, class, view, instance, asked)
		}
	}
	if _, err := x.apply(ctx, now, bindingMatter(g.slice, instance), written); err != nil {
		return nil, nil, err
	}
	return now, g.notes, nil
}

// instanceOf is the instance of a binding: of the same files, or of the cluster.
// It is nil if there is none.
func (x *explainer) instanceOf(ctx context.Context, binding *v1beta1.ServiceBinding) (*v1beta1.ServiceInstance, error) {
	if binding.Spec.InstanceRef == nil || binding.Spec.InstanceRef.Name == "" {
		return nil, nil
	}
	key := binding.InstanceKey()
	if instance := x.admitted[key]; instance != nil {
		return instance, nil
	}
	instance := &v1beta1.ServiceInstance{}
	err := x.reader.Get(ctx, key, instance)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot get instance %q: %w", key.Name, err)
	}
	return instance, nil
}

// tellBound tells the plan of a binding's instance, and what it gives.
func (x *explainer) tellBound(now *Now, s *slice, class catalog.Class, plan catalog.Plan, instance *v1beta1.ServiceInstance, asked *v1beta1.ServiceBinding) {
	classEntry, planEntry := class.ClassEntry(), plan.PlanEntry()
	target := policy.TargetOf(classEntry, planEntry)
	target.Instance = &policy.Instance{Namespace: instance.Namespace, Name: instance.Name, Labels: instance.Labels}
	told := planOf(&classEntry, &planEntry)
	now.Plan = &told
	now.Policy = policyOf(policy.Judge(s.rules, target, s.place(asked.Namespace)))
	ofClass, ofPlan := &class.Spec.Defaults, &plan.Spec.Defaults
	if !x.options.Gates.Enabled(options.BindDefaults) {
		ofClass, ofPlan = &v1beta1.Defaults{}, &v1beta1.Defaults{}
	}
	now.Parameters = mergedParameters(ofClass.DefaultBindParameters, ofPlan.DefaultBindParameters, asked.Spec.Parameters)
	now.Transforms = mergedTransforms(ofClass, ofPlan, &asked.Spec)
}

// bindingMatter are the objects that admission needs for a binding.
func bindingMatter(s *slice, instance *v1beta1.ServiceInstance) []client.Object {
	objects := s.commons()
	for _, ref := range sorted(s.classes) {
		objects = append(objects, s.classes[ref].Object)
	}
	for _, ref := range sorted(s.plans) {
		objects = append(objects, s.plans[ref].Object)
	}
	if instance != nil {
		objects = append(objects, instance)
	}
	return objects
}
