package certs

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// fieldManager is who writes, to managedFields.
const fieldManager = "defaultplan-webhook"

// round looks, and does what is due: first what the Secret is to hold, and, if that is
// in order, what is served and what the configurations carry. It says when to look
// again if nothing changes.
func (r *Rotator) round(ctx context.Context, from source) (time.Duration, error) {
	w, err := r.look(ctx, from)
	if err != nil {
		return 0, err
	}
	now := r.options.Clock.Now()
	do, err := next(w.seen, now, r.options.Policy)
	if err != nil {
		return 0, err
	}
	if len(do.data) > 0 {
		if err := r.remember(ctx, w.secret, do); err != nil {
			return 0, errors.Join(err, r.heal(ctx, w))
		}
		return retryFirst, nil // what was written comes as a change
	}
	settled, err := r.serve(w, now)
	r.judge(w)
	for _, c := range w.configurations {
		err = errors.Join(err, r.inject(ctx, c, do.trust))
	}
	again := earliest(earliest(do.again, now.Add(longestPause)), settled)
	return max(again.Sub(now), 0), err
}

// remember writes the Secret, if nobody has since it was read.
func (r *Rotator) remember(ctx context.Context, secret *corev1.Secret, do plan) error {
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": secret.ResourceVersion, "uid": secret.UID},
		"data":     do.data,
	})
	if err != nil {
		return fmt.Errorf("cannot encode Secret %q: %w", secret.Name, err)
	}
	_, err = r.options.Client.CoreV1().Secrets(r.options.Namespace).
		Patch(ctx, secret.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: fieldManager})
	if err != nil {
		return fmt.Errorf("cannot write Secret %q: %w", r.options.Namespace+"/"+secret.Name, err)
	}
	for _, d := range do.deeds {
		r.tell(secret, d)
	}
	return nil
}

// heal is for as long as nothing can be remembered: every entry is to carry the authority
// of what is served all the same, beside all that it carries. What is planned waits.
func (r *Rotator) heal(ctx context.Context, w world) (err error) {
	r.judge(w)
	if r.served.leaf == nil {
		return nil
	}
	served := trust{must: []*x509.Certificate{r.served.ca}, may: carriedByAny(w.seen.bundles)}
	for _, c := range w.configurations {
		err = errors.Join(err, r.inject(ctx, c, served))
	}
	return err
}

// serve lays out the Secret's leaf, once it may be. If it may be later, unless something
// changes, it says when.
func (r *Rotator) serve(w world, now time.Time) (later time.Time, err error) {
	never := now.Add(longestPause)
	leaf := Pair{Cert: w.seen.data[CertFile], Key: w.seen.data[KeyFile]}
	offered := servingOf(leaf, w.seen.data[CAFile])
	r.settle(offered, w.seen.bundles, now)
	if !r.served.takes(offered, w.seen.bundles, r.since, now, r.options.Policy.Settle) {
		if r.since.IsZero() || offered.leaf.Equal(r.served.leaf) {
			return never, nil
		}
		return r.since.Add(r.options.Policy.Settle), nil
	}
	if err := WriteServing(r.options.Dir, leaf, w.seen.data[CAFile]); err != nil {
		return never, err
	}
	r.served = offered
	r.options.Log.Info("serving a certificate", "serialNumber", offered.leaf.SerialNumber.Text(16),
		"authority", offered.ca.Subject.CommonName, "notAfter", offered.leaf.NotAfter.Format(time.RFC3339))
	return never, nil
}

// settle notes since when every bundle has carried the authority that is offered.
func (r *Rotator) settle(offered serving, bundles [][]byte, now time.Time) {
	if r.offered == nil || !r.offered.Equal(offered.ca) {
		r.offered, r.since = offered.ca, time.Time{}
	}
	switch {
	case !carriedByAll(bundles, offered.ca):
		r.since = time.Time{}
	case r.since.IsZero() || now.Before(r.since):
		r.since = now
	}
}

// judge notes what Check says.
func (r *Rotator) judge(w world) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.trusts != nil && r.trusts.Equal(r.served.ca)
	r.notTrusted = r.served.trusted(w, before)
	if r.notTrusted == nil {
		r.trusts = r.served.ca
	}
}

// inject has the webhooks of a configuration carry what they are to, if nobody has
// written it since it was read.
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
