package install_test

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"
)

// passing are the resources whose objects come and go by themselves.
var passing = []string{"events", "leases", "endpointslices", "endpoints", "pods", "componentstatuses", "podmetrics", "servicecidrs", "ipaddresses"}

// An inventory is all that is stored in a cluster, as "resource.group namespace/name".
type inventory []string

// inventory lists all objects of the cluster, but for those that come and go by
// themselves.
func (c *cluster) inventory() inventory {
	c.Helper()
	return slices.Sorted(maps.Keys(c.versions()))
}

// versions are the generations of the inventory's objects; for a kind that has none,
// which is one without status, the version.
func (c *cluster) versions() map[string]string {
	c.Helper()
	finder, err := discovery.NewDiscoveryClientForConfig(c.RESTConfig())
	require.NoError(c, err)
	lists, err := finder.ServerPreferredResources()
	require.NoError(c, err)
	objects, err := metadata.NewForConfig(c.RESTConfig())
	require.NoError(c, err)
	all := map[string]string{}
	for _, list := range lists {
		group, err := schema.ParseGroupVersion(list.GroupVersion)
		require.NoError(c, err)
		for i := range list.APIResources {
			resource := &list.APIResources[i]
			if !slices.Contains(resource.Verbs, "list") || slices.Contains(passing, resource.Name) {
				continue
			}
			found, err := objects.Resource(group.WithResource(resource.Name)).List(c.Context(), metav1.ListOptions{})
			require.NoError(c, err, resource.Name)
			for j := range found.Items {
				o := &found.Items[j]
				kind := strings.TrimSuffix(resource.Name+"."+group.Group, ".")
				version := strconv.FormatInt(o.Generation, 10)
				if o.Generation == 0 {
					version = o.ResourceVersion
				}
				all[kind+" "+strings.TrimPrefix(o.Namespace+"/"+o.Name, "/")] = version
			}
		}
	}
	return all
}

// without is what the inventory has and another has not.
func (i inventory) without(other inventory) inventory {
	var more inventory
	for _, object := range i {
		if _, found := slices.BinarySearch(other, object); !found {
			more = append(more, object)
		}
	}
	return more
}
