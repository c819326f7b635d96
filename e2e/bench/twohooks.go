package main

import (
	"context"
	"fmt"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/bench/catalog"
	"github.com/defaultplan/defaultplan/e2e/bench/rawhook"
	"github.com/defaultplan/defaultplan/e2e/bench/review"
	"github.com/defaultplan/defaultplan/e2e/stack/wait"
)

// hooksName is the name of the shipped configurations.
const hooksName = "defaultplan-webhook"

// hooksLabel is the label of a namespace that says which hooks admit there.
const hooksLabel = "bench"

// hookPair is the two configurations of one pair of hooks.
type hookPair struct {
	mutating   *admissionregistrationv1.MutatingWebhookConfiguration
	validating *admissionregistrationv1.ValidatingWebhookConfiguration
}

// shippedHooks reads our hooks as they are installed.
func shippedHooks(ctx context.Context, c client.Client) (hookPair, error) {
	p := hookPair{&admissionregistrationv1.MutatingWebhookConfiguration{}, &admissionregistrationv1.ValidatingWebhookConfiguration{}}
	for _, shipped := range []client.Object{p.mutating, p.validating} {
		if err := c.Get(ctx, client.ObjectKey{Name: hooksName}, shipped); err != nil {
			return hookPair{}, fmt.Errorf("cannot get the hooks: %w", err)
		}
	}
	return p, nil
}

// in is the pair with its hooks called in one namespace only, and notIn in all others.
func (p hookPair) in(namespace string) hookPair {
	return p.selecting(&metav1.LabelSelector{MatchLabels: map[string]string{hooksLabel: namespace}})
}

func (p hookPair) notIn(namespaces ...string) hookPair {
	return p.selecting(&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
		{Key: hooksLabel, Operator: metav1.LabelSelectorOpNotIn, Values: namespaces},
	}})
}

func (p hookPair) selecting(only *metav1.LabelSelector) hookPair {
	p = hookPair{p.mutating.DeepCopy(), p.validating.DeepCopy()}
	for i := range p.mutating.Webhooks {
		p.mutating.Webhooks[i].NamespaceSelector = only
	}
	for i := range p.validating.Webhooks {
		p.validating.Webhooks[i].NamespaceSelector = only
	}
	return p
}

// leadingTo is a copy of the pair, of another name, that leads to other hooks, for instances alone:
// objects of the cluster are in no namespace that could be selected.
func (p hookPair) leadingTo(name, mutatingURL, validatingURL string) hookPair {
	p = hookPair{p.mutating.DeepCopy(), p.validating.DeepCopy()}
	p.mutating.ObjectMeta, p.validating.ObjectMeta = metav1.ObjectMeta{Name: name}, metav1.ObjectMeta{Name: name}
	p.mutating.Webhooks = slices.DeleteFunc(p.mutating.Webhooks, func(hook admissionregistrationv1.MutatingWebhook) bool { return !ofInstances(hook.Rules) })
	p.validating.Webhooks = slices.DeleteFunc(p.validating.Webhooks, func(hook admissionregistrationv1.ValidatingWebhook) bool { return !ofInstances(hook.Rules) })
	for i := range p.mutating.Webhooks {
		p.mutating.Webhooks[i].ClientConfig.URL = &mutatingURL
	}
	for i := range p.validating.Webhooks {
		p.validating.Webhooks[i].ClientConfig.URL = &validatingURL
	}
	return p
}

// update writes the pair that is installed.
func (p hookPair) update(ctx context.Context, c client.Client) error {
	for _, object := range []client.Object{p.mutating, p.validating} {
		if err := c.Update(ctx, object); err != nil {
			return fmt.Errorf("cannot update the hooks: %w", err)
		}
	}
	return nil
}

func ofInstances(rules []admissionregistrationv1.RuleWithOperations) bool {
	return slices.ContainsFunc(rules, func(rule admissionregistrationv1.RuleWithOperations) bool {
		return slices.Contains(rule.Resources, "serviceinstances")
	})
}

// divide has copies of our hooks' configurations lead to the raw hooks in their two namespaces, and
// our hooks admit in all others.
func (s *site) divide(ctx context.Context) error {
	shipped, err := shippedHooks(ctx, s.Client())
	if err != nil {
		return err
	}
	rawURL := s.rawURL + rawhook.Path
	for _, copied := range []hookPair{
		shipped.leadingTo(rawNamespace, rawURL, rawURL).in(rawNamespace),
		shipped.leadingTo(patchingNamespace, s.rawURL+rawhook.PatchingPath, rawURL).in(patchingNamespace),
	} {
		for _, object := range []client.Object{copied.mutating, copied.validating} {
			if err := s.Client().Create(ctx, object); err != nil {
				return fmt.Errorf("cannot create the raw hooks: %w", err)
			}
		}
	}
	if err := shipped.notIn(rawNamespace, patchingNamespace).update(ctx, s.Client()); err != nil {
		return err
	}
	return wait.Eventually(ctx, func() (bool, error) { return s.divided(ctx) })
}

// divided tries where hooks that patch are called.
func (s *site) divided(ctx context.Context) (bool, error) {
	for namespace, patched := range map[string]bool{review.Namespace: true, patchingNamespace: true, rawNamespace: false} {
		trial := &api.ServiceInstance{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "trial"},
			// Admitted by all: a plan that may yet come.
			Spec: api.ServiceInstanceSpec{
				PlanReference: api.PlanReference{ClusterServiceClassName: "none-yet", ClusterServicePlanName: "none-yet"},
				Parameters:    catalog.Raw(review.UserParameters),
			},
		}
		if err := s.Client().Create(ctx, trial, client.DryRunAll); err != nil {
			return false, fmt.Errorf("cannot try the hooks: %w", err)
		}
		if slices.Contains(trial.Finalizers, api.FinalizerServiceCatalog) != patched {
			return false, nil
		}
	}
	return true, nil
}
