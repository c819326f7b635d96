package get

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/printer"
	admission "github.com/defaultplan/defaultplan/webhook/catalog"
)

// pace is how often a watched list is read at most, however much changes. A list that takes long
// to read is read more rarely, so that a watcher costs the API server no more than a part of its
// time, which restPerRead is the divisor of.
const (
	pace        = time.Second
	restPerRead = 10
)

// A report prints what is new in a list since the last time, and remembers it.
type report interface {
	update(ctx context.Context) error
}

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

func (l follower) report() (report, error) {
	if l.layout() != "" {
		return &rowReport{follower: l, silent: l.by.watchOnly}, nil
	}
	printing, err := l.printer()
	if err != nil {
		return nil, err
	}
	plain := l.output
	plain.noHeaders = true
	comparing, err := plain.printer()
	return &objectReport{
		follower: l, silent: l.by.watchOnly, seen: map[string][sha256.Size]byte{},
		shown: each{l.env.Out, printing}, compare: func(object *unstructured.Unstructured) (string, error) {
			var text bytes.Buffer
			err := cli.PrintObject(&text, comparing, object.DeepCopy())
			// Documents after the first have a line before them, and columns grow.
			return strings.Join(strings.Fields(strings.TrimPrefix(text.String(), "---\n")), " "), err
		},
	}, err
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
	if l.layout() == "" && len(l.filters) == 0 {
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

// A rowReport prints the rows of a table that changed.
type rowReport struct {
	follower

	// silent says that the first rows are not printed.
	silent bool
	// columns are those of the table, nil before the first time; wrap is of its legacy layout.
	columns []string
	wrap    bool
	// seen are the rows of each object as they were.
	seen map[key][][]string
	// written is the last table that was printed.
	written *printer.Table
}

func (r *rowReport) update(ctx context.Context) error {
	found, err := r.readable(ctx, r.load)
	first := r.columns == nil
	switch {
	case !first && catalog.IsNotFound(err):
		return r.print(r.news(nil, nil)) // what was named is gone
	case err != nil:
		return err
	}
	if err := (sorter{r.listing}).rows(ctx, found); err != nil {
		return err
	}
	keys := found.keys()
	if first && len(keys) == 0 {
		if err := r.empty(ctx, r.load); err != nil {
			return err
		}
	}
	columns, lines := found.cells(r.layout())
	r.columns, r.wrap = columns, found.wraps()
	if lines = r.news(keys, lines); first && r.silent {
		return nil
	}
	return r.print(lines)
}

// print prints rows below those that were printed before.
func (r *rowReport) print(lines [][]string) error {
	if len(lines) == 0 {
		return nil
	}
	t := r.fill(r.layout(), r.columns, lines)
	if r.written != nil {
		t.Continue(r.written)
	}
	r.written = t
	return r.write(r.layout(), t, r.wrap)
}

// news are the rows that are new or another than before, and those that are gone.
func (r *rowReport) news(keys []key, all [][]string) (lines [][]string) {
	lasting := len(r.columns)
	if r.columns[lasting-1] == columnAge {
		lasting--
	}
	now := map[key][][]string{}
	for i, k := range keys {
		now[k] = append(now[k], all[i])
		same := func(before []string) bool { return slices.Equal(before[:lasting], all[i][:lasting]) }
		if !slices.ContainsFunc(r.seen[k], same) {
			lines = append(lines, all[i])
		}
	}
	var gone [][]string
	for k, before := range r.seen {
		if _, is := now[k]; !is {
			gone = append(gone, before...)
		}
	}
	slices.SortFunc(gone, slices.Compare)
	for _, line := range gone {
		line[len(line)-1] += " (deleted)"
	}
	r.seen = now
	return append(lines, gone...)
}

// An objectReport prints the objects whose text changed. Of those that are gone it says nothing.
type objectReport struct {
	follower

	silent, begun bool
	shown         each
	compare       func(*unstructured.Unstructured) (string, error)
	// seen are the texts that were printed.
	seen map[string][sha256.Size]byte
}

func (r *objectReport) update(ctx context.Context) error {
	var wanted map[key]bool
	if len(r.filters) > 0 {
		found, err := r.readable(ctx, r.load)
		if err != nil && (!r.begun || !catalog.IsNotFound(err)) {
			return err
		}
		wanted = map[key]bool{}
		if err == nil {
			for _, k := range found.keys() {
				wanted[k] = true
			}
		}
	}
	now := map[string][sha256.Size]byte{}
	silent := r.silent && !r.begun
	r.begun = true
	err := r.walk(ctx, r.client, func(object *unstructured.Unstructured) error {
		if wanted != nil && !wanted[r.keyOf(object)] {
			return nil
		}
		text, err := r.compare(r.trimmed(object))
		if err != nil {
			return err
		}
		id, sum := object.GetKind()+" "+cli.Qualified(object.GetNamespace(), object.GetName()), sha256.Sum256([]byte(text))
		now[id] = sum
		if r.seen[id] == sum || silent {
			return nil
		}
		return r.shown.add(object)
	})
	r.seen = now
	return err
}
