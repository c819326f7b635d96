package stack

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/stack/manifest"
	"github.com/defaultplan/defaultplan/e2e/stack/wait"
)

// InstallHooks applies the hook configurations as shipped, but for where the
// webhook is, and returns when the API server calls them. Needs at least one
// webhook.
func (h *Webhooks) InstallHooks(ctx context.Context) error {
	if len(h.webhooks) == 0 {
		return errors.New("cannot install hooks: the stack has no webhook")
	}
	if err := h.applyHooks(ctx); err != nil {
		return err
	}
	return wait.Eventually(ctx, func() (bool, error) { return h.hooked(ctx) })
}

// applyHooks applies the hook configurations.
func (h *Webhooks) applyHooks(ctx context.Context) error {
	objects, err := h.hooks()
	if err != nil {
		return err
	}
	// One after the other, the mutating ones last: it is those that can be seen
	// to be called.
	slices.Reverse(objects)
	for _, object := range objects {
		if err := manifest.Apply(ctx, h.access.client, object); err != nil {
			return err
		}
	}
	return nil
}

// UninstallHooks deletes the hook configurations and returns when the API
// server no longer calls them.
func (h *Webhooks) UninstallHooks(ctx context.Context) error {
	objects, err := manifest.Read("hooks")
	if err != nil {
		return err
	}
	for _, object := range objects {
		if err := client.IgnoreNotFound(h.access.client.Delete(ctx, object)); err != nil {
			return fmt.Errorf("cannot delete %s %q: %w", object.GetKind(), object.GetName(), err)
		}
	}
	return wait.Eventually(ctx, func() (bool, error) {
		called, err := h.hooked(ctx)
		return !called && err == nil, err
	})
}

// hooks are the shipped configurations with the URL of this stack's webhook in
// place of the Service.
func (h *Webhooks) hooks() ([]*unstructured.Unstructured, error) {
	objects, err := manifest.Read("hooks")
	if err != nil {
		return nil, err
	}
	for _, object := range objects {
		webhooks, _, err := unstructured.NestedSlice(object.Object, "webhooks")
		if err != nil {
			return nil, fmt.Errorf("cannot read %s %q: %w", object.GetKind(), object.GetName(), err)
		}
		for _, webhook := range webhooks {
			if err := h.redirect(webhook); err != nil {
				return nil, fmt.Errorf("cannot redirect %s %q: %w", object.GetKind(), object.GetName(), err)
			}
		}
		if err := unstructured.SetNestedSlice(object.Object, webhooks, "webhooks"); err != nil {
			return nil, fmt.Errorf("cannot write %s %q: %w", object.GetKind(), object.GetName(), err)
		}
	}
	return objects, nil
}

func (h *Webhooks) redirect(webhook any) error {
	fields, ok := webhook.(map[string]any)
	if !ok {
		return fmt.Errorf("a webhook is a %T, not an object", webhook)
	}
	path, found, err := unstructured.NestedString(fields, "clientConfig", "service", "path")
	if err != nil || !found {
		return fmt.Errorf("clientConfig.service.path is not a string: %w", err)
	}
	config := map[string]any{"url": h.WebhookURL(path)}
	// A bundle is not applied if the webhook writes it.
	if !h.options.ManagedCerts {
		config["caBundle"] = base64.StdEncoding.EncodeToString(h.caBundle)
	}
	fields["clientConfig"] = config
	return nil
}

// hooked says whether the API server calls the hooks now. The API server learns
// of a configuration by a watch, a moment after it is stored; so an instance is
// created as a trial, in a dry run: either a hook refuses it, or it comes back with
// the finalizer that only the hook adds. It names a class and a plan: a type that no
// hook decided on would be refused where the policies are installed.
func (h *Webhooks) hooked(ctx context.Context) (bool, error) {
	trial := &api.ServiceInstance{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "stack-trial-"},
		Spec: api.ServiceInstanceSpec{PlanReference: api.PlanReference{
			ClusterServiceClassExternalName: "stack-trial", ClusterServicePlanExternalName: "stack-trial",
		}},
	}
	err := h.access.client.Create(ctx, trial, client.DryRunAll)
	if (apierrors.IsInvalid(err) || apierrors.IsForbidden(err)) && strings.Contains(err.Error(), "admission webhook") {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("cannot try the hooks: %w", err)
	}
	return slices.Contains(trial.Finalizers, api.FinalizerServiceCatalog), nil
}
