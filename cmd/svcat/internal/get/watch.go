package get

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	admission "github.com/defaultplan/defaultplan/webhook/catalog"
)

// pace is how often a watched list is read at most, however much changes. A list that takes long
// to read is read more rarely, so that a watcher costs the API server no more than a part of its
// time, which restPerRead is the divisor of.
const (
	pace        = time.Second
	restPerRead = 10
)

// A follower watches a list.
type follower struct {
	*listing

	load loader
}

// follow prints the list and then what changes in it, until Ctrl-C, which is how it is meant to
// end. A row tells more than its own object, such as which plan is a type's default, so that a
// change has the list read again, and what is printed is compared.
func (l follower) follow(ctx context.Context) error {
	news, err := l.report()
	if err != nil {
		return err
	}
	if err := l.narrow(ctx); err != nil && ctx.Err() == nil {
		return err
	}
	var rest time.Duration // until the list is read again
	for ctx.Err() == nil {
		// The watch begins where the list was before it is read: nothing is missed. One
		// that ends, as when the API server no longer knows the version, begins again so.
		changed, stop, err := l.changes(ctx)
		for open := err == nil; open && err == nil; {
			if !waited(ctx, rest) {
				break
			}
			begun := time.Now()
			err = news.update(ctx)
			rest = max(pace, restPerRead*time.Since(begun))
			if err == nil {
				_, open = <-changed
			}
		}
		stop()
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

// waited waits, and says whether it came to the end.
func waited(ctx context.Context, rest time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(rest):
		return true
	}
}

// narrow leaves out the scope that the user may not list, as a list without a watch does.
func (l follower) narrow(ctx context.Context) error {
	_, err := l.readable(ctx, func(scope cli.Scope) (rows, error) { return nil, l.listable(ctx, scope) })
	return err
}

// listable says whether everything that is watched of a scope can be listed.
func (l follower) listable(ctx context.Context, scope cli.Scope) error {
	for _, one := range scope.Split() {
		for _, kind := range slices.Concat(l.kindsIn(one), l.alsoIn(one)) {
			if _, err := l.version(ctx, kind, one); err != nil {
				return err
			}
		}
	}
	return nil
}

// changes tells that something of the list may have changed, and is closed when a watch ends.
func (l follower) changes(ctx context.Context) (<-chan struct{}, context.CancelFunc, error) {
	ctx, stop := context.WithCancel(ctx)
	changed := make(chan struct{}, 1)
	watchers, err := l.watchers(ctx)
	if err != nil {
		return nil, stop, err
	}
	var all sync.WaitGroup
	for _, watcher := range watchers {
		all.Go(func() {
			defer stop()
			defer context.AfterFunc(ctx, watcher.Stop)()
			for event := range watcher.ResultChan() {
				if event.Type == watch.Error {
					return
				}
				select {
				case changed <- struct{}{}:
				default: // it is told already
				}
			}
		})
	}
	go func() {
		all.Wait()
		close(changed)
	}()
	return changed, stop, nil
}

// watchers watch every kind that the list tells about.
func (l follower) watchers(ctx context.Context) ([]watch.Interface, error) {
	var all []watch.Interface
	for _, scope := range l.scope.Split() {
		for _, kind := range slices.Concat(l.kindsIn(scope), l.alsoIn(scope)) {
			watcher, err := l.watch(ctx, kind, scope)
			if err != nil {
				return nil, err
			}
			all = append(all, watcher)
		}
	}
	if l.scope.Cluster {
		return all, nil
	}
	// What the cluster has decides, too, what is effective in a namespace, for a user who may
	// read it.
	cluster := cli.Scope{Cluster: true}
	for _, kind := range l.alsoIn(cluster) {
		watcher, err := l.watch(ctx, kind, cluster)
		switch {
		case err == nil:
			all = append(all, watcher)
		case !apierrors.IsForbidden(err):
			return nil, err
		}
	}
	return all, nil
}

// alsoIn are the kinds besides the listed ones that rows of a scope tell about; objects alone
// tell about none.
func (l follower) alsoIn(scope cli.Scope) []string {
	if l.layout() == "" && !l.narrowed() {
		return nil
	}
	kinds := slices.Clone(l.also)
	for i := range kinds {
		if scope.Cluster {
			kinds[i] = "Cluster" + kinds[i]
		}
	}
	return kinds
}

// version is a list of a kind at its present version, with one object at most.
func (l follower) version(ctx context.Context, kind string, scope cli.Scope) (*metav1.PartialObjectMetadataList, error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(v1beta1.GroupVersion.WithKind(kind + "List"))
	if err := l.client.List(ctx, list, client.InNamespace(scope.Namespace), client.Limit(1)); err != nil {
		return nil, fmt.Errorf("cannot list %s: %w", admission.ResourceOf(list), err)
	}
	return list, nil
}

// watch watches a kind from its present version on.
func (l follower) watch(ctx context.Context, kind string, scope cli.Scope) (watch.Interface, error) {
	list, err := l.version(ctx, kind, scope)
	if err != nil {
		return nil, err
	}
	from := &client.ListOptions{Namespace: scope.Namespace, Raw: &metav1.ListOptions{ResourceVersion: list.ResourceVersion}}
	fresh := &metav1.PartialObjectMetadataList{TypeMeta: list.TypeMeta}
	watcher, err := l.client.Watch(ctx, fresh, from)
	if err != nil {
		return nil, fmt.Errorf("cannot watch %s: %w", admission.ResourceOf(list), err)
	}
	return watcher, nil
}
