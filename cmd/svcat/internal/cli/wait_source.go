package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// errUnwatchable is of an object of a kind that cannot be waited for.
var errUnwatchable = errors.New("waiting for such an object is not supported")

// A clusterSource reads and watches an object in the cluster.
type clusterSource struct {
	client client.WithWatch
	object client.Object
}

// read lists: the version of a list can be watched from, that of an object may be
// so old that the API server does not know it any more.
func (c *clusterSource) read(ctx context.Context) (client.Object, string, error) {
	list, err := listOf(c.object)
	if err != nil {
		return nil, "", err
	}
	if err := c.client.List(ctx, list, c.only("")); err != nil {
		return nil, "", err
	}
	var found client.Object
	err = meta.EachListItem(list, func(item runtime.Object) error {
		found, _ = item.(client.Object)
		return nil
	})
	return found, list.GetResourceVersion(), err
}

func (c *clusterSource) watch(ctx context.Context, version string) (watch.Interface, error) {
	list, err := listOf(c.object)
	if err != nil {
		return nil, err
	}
	return c.client.Watch(ctx, list, c.only(version))
}

// only selects the object by its name; a user with rights to that name alone may
// list and watch so.
func (c *clusterSource) only(version string) *client.ListOptions {
	options := &client.ListOptions{Namespace: c.object.GetNamespace(), Raw: &metav1.ListOptions{ResourceVersion: version}}
	client.MatchingFields{"metadata.name": c.object.GetName()}.ApplyToList(options)
	return options
}

func listOf(object client.Object) (client.ObjectList, error) {
	switch object.(type) {
	case *v1beta1.ServiceInstance:
		return &v1beta1.ServiceInstanceList{}, nil
	case *v1beta1.ServiceBinding:
		return &v1beta1.ServiceBindingList{}, nil
	case *v1beta1.ClusterServiceBroker:
		return &v1beta1.ClusterServiceBrokerList{}, nil
	case *v1beta1.ServiceBroker:
		return &v1beta1.ServiceBrokerList{}, nil
	}
	return nil, fmt.Errorf("%w: %T", errUnwatchable, object)
}

// progress writes the lines of a wait, of several objects at once. A line that cannot be
// written does not end the wait.
type progress struct {
	out     io.Writer
	started time.Time

	mutex sync.Mutex
}

func (p *progress) linef(format string, args ...any) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	_, _ = fmt.Fprintf(p.out, format+"\n", args...)
}

// line writes a line about one object: "12s  mydb: Ready=Unknown Provisioning".
func (p *progress) line(name, text string) {
	p.linef("%s  %s: %s", time.Since(p.started).Truncate(time.Second), name, text)
}
