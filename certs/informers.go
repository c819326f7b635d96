package certs

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	admissioninformers "k8s.io/client-go/informers/admissionregistration/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/tools/cache"
)

// follow has changed told of every change of what look reads, until ctx ends. Each
// informer asks for one object by its name, so that rights on that name suffice.
func (r *Rotator) follow(ctx context.Context, changed func()) (cached, error) {
	client, o := r.options.Client, r.options
	only := func(name string) func(*metav1.ListOptions) {
		return func(list *metav1.ListOptions) {
			list.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, name).String()
		}
	}
	c := cached{
		namespace: o.Namespace, configurations: o.Configurations, secrets: map[string]cache.SharedIndexInformer{},
		mutatings:   admissioninformers.NewFilteredMutatingWebhookConfigurationInformer(client, 0, nil, only(o.Configurations)),
		validatings: admissioninformers.NewFilteredValidatingWebhookConfigurationInformer(client, 0, nil, only(o.Configurations)),
	}
	for _, name := range []string{o.Secret, o.AlsoTrust} {
		if name != "" {
			c.secrets[name] = coreinformers.NewFilteredSecretInformer(client, o.Namespace, 0, nil, only(name))
		}
	}
	informers := []cache.SharedIndexInformer{c.mutatings, c.validatings}
	for _, informer := range c.secrets {
		informers = append(informers, informer)
	}
	handler := cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { changed() }, UpdateFunc: func(any, any) { changed() }, DeleteFunc: func(any) { changed() },
	}
	var synced []cache.InformerSynced
	for _, informer := range informers {
		registration, err := informer.AddEventHandler(handler)
		if err != nil {
			return cached{}, fmt.Errorf("cannot follow certificates: %w", err)
		}
		synced = append(synced, registration.HasSynced)
		r.informers.Go(func() { informer.RunWithContext(ctx) })
	}
	if !cache.WaitForCacheSync(ctx.Done(), synced...) {
		return cached{}, fmt.Errorf("cannot follow certificates: %w", context.Cause(ctx))
	}
	return c, nil
}
