package catalog

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// Attributes are the attributes of a plan as its broker gave them, as in
// "Cores=4, Memory=16Gi", sorted.
func (p Plan) Attributes() string {
	all := map[string]string{}
	for _, from := range []map[string]string{p.Object.GetAnnotations(), p.Object.GetLabels()} {
		for name, value := range from {
			if attribute, is := strings.CutPrefix(name, v1beta1.LabelAttributePrefix); is {
				all[attribute] = value
			}
		}
	}
	words := make([]string, 0, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		words = append(words, name+"="+all[name])
	}
	return strings.Join(words, ", ")
}

// URL is the broker's address without what may hold a password or a token: a username, a
// query, a fragment.
func (b Broker) URL() string { return ShownURL(b.Spec.URL) }

// ShownURL is Broker.URL of an address.
func ShownURL(text string) string {
	address, err := url.Parse(text)
	switch {
	case err != nil:
		return "(not a URL)"
	case address.Host == "", strings.ContainsAny(text, "?#"), address.User == nil && strings.Contains(text, "@"):
		return "(hidden: it may hold a password)"
	case address.User == nil:
		return text
	}
	address.User = url.User("xxxxx")
	return address.String()
}

// Labelled says whether a plan or class of a scope has a label.
func Labelled(ctx context.Context, reader client.Reader, scope cli.Scope, label string) (bool, error) {
	for _, scope := range scope.Split() {
		all := []client.ObjectList{&v1beta1.ClusterServicePlanList{}, &v1beta1.ClusterServiceClassList{}}
		if scope.Namespaces {
			all = []client.ObjectList{&v1beta1.ServicePlanList{}, &v1beta1.ServiceClassList{}}
		}
		for _, list := range all {
			err := reader.List(ctx, list, client.InNamespace(scope.Namespace), client.HasLabels{label}, client.Limit(1))
			if err != nil || meta.LenList(list) > 0 {
				return err == nil, err
			}
		}
	}
	return false, nil
}
