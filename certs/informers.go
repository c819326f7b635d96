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
// informer asks for one object by its name, so that rights on that name suffice. What is
// returned says, too, whether all informers have what there is.
func (o *observer) follow(ctx context.Context, changed func()) (cached, []cache.InformerSynced, error) {
	only := func(name string) func(*metav1.ListOptions) {
		return func(list *metav1.ListOptions) {
			list.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, name).String()
		}
	}
	c := cached{
		namespace: o.namespace, configurations: o.configurations, secrets: map[string]cache.SharedIndexInformer{},
		mutatings:   admissioninformers.NewFilteredMutatingWebhookConfigurationInformer(o.client, 0, nil, only(o.configurations)),
		validatings: admissioninformers.NewFilteredValidatingWebhookConfigurationInformer(o.client, 0, nil, only(o.configurations)),
	}
	for _, name := range o.secrets {
		if name != "" {
			c.secrets[name] = coreinformers.NewFilteredSecretInformer(o.client, o.namespace, 0, nil, only(name))
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
			return cached{}, nil, fmt.Errorf("cannot follow certificates: %w", err)
		}
		synced = append(synced, registration.HasSynced)
		o.informers.Go(func() { informer.RunWithContext(ctx) })
	}
	return c, synced, nil
}
