package options

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/endpoints"
	"github.com/defaultplan/defaultplan/osb/controller/scope"
)

// Scope is the part of the cluster that the flags give the controller.
func (o *Options) Scope() scope.Scope {
	return scope.Scope{Name: o.ControllerName, Namespaces: o.Namespaces, IgnoreQuotas: o.IgnoreQuotas}
}

// CacheNamespaces is what the cache is to hold; nil: all namespaces.
func (o *Options) CacheNamespaces() map[string]cache.Config {
	if len(o.Namespaces) == 0 {
		return nil
	}
	held := map[string]cache.Config{}
	for _, namespace := range o.Namespaces {
		held[namespace] = cache.Config{}
	}
	return held
}

// CacheObjects is what the cache is to hold of kinds that others write, too: what the
// controller made. nil: no such kind is watched.
func (o *Options) CacheObjects() map[client.Object]cache.ByObject {
	if !o.Endpoints {
		return nil
	}
	held := map[client.Object]cache.ByObject{}
	for _, kind := range endpoints.Watched() {
		held[kind] = cache.ByObject{Label: labels.SelectorFromSet(labels.Set{v1beta1.LabelManagedBy: v1beta1.ManagedByController})}
	}
	return held
}

// validateScope says which flag of the scope has what wrong.
func (o *Options) validateScope() error {
	var errs []error
	if o.ControllerName != "" {
		for _, wrong := range validation.IsDNS1123Label(o.ControllerName) {
			errs = append(errs, fmt.Errorf("--controller-name is %q: %s", o.ControllerName, wrong))
		}
	}
	for _, namespace := range o.Namespaces {
		for _, wrong := range validation.IsDNS1123Label(namespace) {
			errs = append(errs, fmt.Errorf("--namespaces has %q: %s", namespace, wrong))
		}
	}
	if len(o.Namespaces) > 0 && o.ClusterID == "" {
		errs = append(errs, errors.New("--namespaces goes with --cluster-id: what the cluster is known by is in a namespace that the controller does not look into"))
	}
	if o.IgnoreQuotas && len(o.Namespaces) == 0 {
		errs = append(errs, errors.New("--ignore-quotas goes with --namespaces only: a controller of the whole cluster reads policies, and keeps to them"))
	}
	return errors.Join(errs...)
}
