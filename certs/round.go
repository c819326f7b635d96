package certs

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// fieldManager is who writes, to managedFields.
const fieldManager = "defaultplan-keeper"

// round looks, and does what is due, in the order in which a process that ends in
// between leaves nothing untrusted: the authority's Secret; then what the configurations
// carry; and, if that is in order, what is to be served. It says when to look again if
// nothing changes.
func (r *Rotator) round(ctx context.Context, from source) (time.Duration, error) {
	w, err := r.look(ctx, from)
	if err != nil {
		return 0, r.readiness.waiting(err)
	}
	now := r.options.Clock.Now()
	do, err := next(w.seen, now, r.options.Policy)
	if err != nil {
		return 0, err
	}
	offered := offeredBy(w.secret)
	if offered.leaf != nil {
		r.published = offered
	}
	r.readiness.judge(r.published, w, now)
	authority, served := w.split(do.data)
	if len(authority) > 0 {
		if err := r.remember(ctx, w.authority, authority, do.deeds, theCA, theOthers); err != nil {
			return 0, errors.Join(err, r.heal(ctx, w))
		}
		return retryFirst, nil // what was written comes as a change, and the leaf is signed then
	}
	for _, c := range w.configurations {
		err = errors.Join(err, r.inject(ctx, c, do.trust))
	}
	usable := offered.leaf != nil && !expired(offered.leaf, now) && carriedByAll(w.seen.bundles, offered.ca)
	if len(served) > 0 && (err == nil || !usable) {
		err = errors.Join(err, r.remember(ctx, w.secret, served, do.deeds, theLeaf))
	}
	return max(earliest(do.again, now.Add(longestPause)).Sub(now), 0), err
}

// remember writes a Secret, if it is as it was read, and reports the deeds that
// are done to those.
func (r *Rotator) remember(ctx context.Context, secret *corev1.Secret, data map[string][]byte, deeds []deed, to ...string) error {
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": secret.ResourceVersion, "uid": secret.UID},
		"data":     data,
	})
	if err != nil {
		return fmt.Errorf("cannot encode Secret %q: %w", secret.Name, err)
	}
	_, err = r.options.Client.CoreV1().Secrets(r.options.Namespace).
		Patch(ctx, secret.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: fieldManager})
	if err != nil {
		return fmt.Errorf("cannot write Secret %q: %w", r.options.Namespace+"/"+secret.Name, err)
	}
	for _, d := range deeds {
		if slices.Contains(to, d.to) {
			r.tell(secret, d)
		}
	}
	return nil
}

// heal is for as long as nothing can be remembered: every entry is to carry the authority
// of what is served all the same, beside all that it carries. What is planned waits.
func (r *Rotator) heal(ctx context.Context, w snapshot) (err error) {
	if r.published.leaf == nil {
		return nil
	}
	served := trust{must: []*x509.Certificate{r.published.ca}, may: carriedByAny(w.seen.bundles)}
	for _, c := range w.configurations {
		err = errors.Join(err, r.inject(ctx, c, served))
	}
	return err
}

// inject has the webhooks of a configuration carry what they are to, if it is as it was
// read.
func (r *Rotator) inject(ctx context.Context, c configuration, t trust) error {
	var webhooks []map[string]any
	for _, e := range c.entries {
		if bundle := t.amend(e.bundle); bundle != nil {
			// Merged by the name, so that all else of the webhook stays.
			webhooks = append(webhooks, map[string]any{"name": e.name, "clientConfig": map[string]any{"caBundle": bundle}})
		}
	}
	if len(webhooks) == 0 {
		return nil
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"resourceVersion": c.version}, "webhooks": webhooks})
	if err != nil {
		return fmt.Errorf("cannot encode %s %q: %w", c.kind, r.options.Configurations, err)
	}
	if err := r.patch(ctx, c.kind, patch); err != nil {
		r.counts.injectionFailed(c.kind, err)
		return fmt.Errorf("cannot put the authority into %s %q: %w", c.kind, r.options.Configurations, err)
	}
	r.options.Log.Info("put the authority into a hook configuration", "kind", c.kind, "name", r.options.Configurations, "webhooks", len(webhooks))
	return nil
}

func (r *Rotator) patch(ctx context.Context, kind string, patch []byte) (err error) {
	api, options := r.options.Client.AdmissionregistrationV1(), metav1.PatchOptions{FieldManager: fieldManager}
	if kind == mutatingKind {
		_, err = api.MutatingWebhookConfigurations().Patch(ctx, r.options.Configurations, types.StrategicMergePatchType, patch, options)
		return err
	}
	_, err = api.ValidatingWebhookConfigurations().Patch(ctx, r.options.Configurations, types.StrategicMergePatchType, patch, options)
	return err
}
