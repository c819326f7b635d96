package catalog

import (
	"context"
	"errors"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
	scopes "github.com/defaultplan/defaultplan/webhook/catalog"
)

// AddClusterDefaults adds what the cluster has of the types that namespaces of the catalog only
// have a suggested plan of: a default there comes first. It is for a catalog without
// the cluster's part. Who may not read the cluster's does without.
func AddClusterDefaults(ctx context.Context, reader client.Reader, entries *resolve.Catalog) error {
	var types []string
	for group, choice := range choices(entries) {
		if choice.Rule == resolve.RuleNamespaceSuggested {
			types = append(types, group.Name)
		}
	}
	slices.Sort(types)
	cluster, err := ClusterOfTypes(ctx, reader, slices.Compact(types)...)
	*entries = Joined(entries, &cluster)
	return err
}

// Overruled are those of the types whose suggested plans in namespaces no instance gets: the
// cluster has a default, or two. It reads as AddClusterDefaults does.
func Overruled(ctx context.Context, reader client.Reader, types ...string) (map[string]bool, error) {
	cluster, err := ClusterOfTypes(ctx, reader, types...)
	if err != nil {
		return nil, err
	}
	overruled := map[string]bool{}
	for _, serviceType := range types {
		choice, err := resolve.Plan(resolve.Request{Type: serviceType}, cluster)
		rule := choice.Rule
		if refused, ok := errors.AsType[*resolve.Error](err); ok {
			rule = refused.Rule
		}
		overruled[serviceType] = rule == resolve.RuleClusterDefault
	}
	return overruled, nil
}

// ClusterOfTypes are OfTypes of the cluster, beside those of a namespace: none
// for whom may not read them.
func ClusterOfTypes(ctx context.Context, reader client.Reader, types ...string) (resolve.Catalog, error) {
	entries, err := OfTypes(ctx, reader, "", types...)
	if apierrors.IsForbidden(err) {
		return resolve.Catalog{}, nil
	}
	return entries, err
}

// OfTypes are the plans of a scope (the empty namespace is the cluster) and of
// these types, with their classes and the types' records.
func OfTypes(ctx context.Context, reader client.Reader, namespace string, types ...string) (resolve.Catalog, error) {
	var all resolve.Catalog
	at, known := scopes.Scope{Reader: reader, Namespace: namespace}, map[resolve.Ref]bool{}
	for _, serviceType := range types {
		if serviceType == "" {
			continue
		}
		found, err := at.OfType(ctx, serviceType)
		if err != nil {
			return resolve.Catalog{}, err
		}
		all.Plans = append(all.Plans, found.Plans...)
		for _, class := range found.Classes {
			// A class may have plans of several types.
			if !known[class.Ref] {
				known[class.Ref] = true
				all.Classes = append(all.Classes, class)
			}
		}
		record := v1beta1.NewType(namespace)
		recorded, err := at.Read(ctx, serviceType, record)
		if err != nil {
			return resolve.Catalog{}, err
		}
		if recorded {
			all.Records = append(all.Records, resolve.RecordFrom(record))
		}
	}
	return all, nil
}
