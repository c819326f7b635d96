// Package rendering admits manifests without a cluster, and says what would be stored.
package rendering

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/apistatus"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/manifest"
	"github.com/defaultplan/defaultplan/deploy/schema"
	"github.com/defaultplan/defaultplan/webhook/offline"
	"github.com/defaultplan/defaultplan/webhook/options"
)

// ErrRefused says that admission refused some of the objects.
var ErrRefused = errors.New("refused")

// Reader reads the manifests of a rendering, and catalogs as brokers answer them.
func Reader() manifest.Reader {
	return manifest.Reader{Other: asCatalog, OtherName: "a broker's catalog"}
}

// A Rendering sends documents through admission.
type Rendering struct {
	// Namespace is where objects are that name none, and Broker what catalogs are of; empty: the
	// name of their file.
	Namespace, Broker string
	// Report takes the lines for standard error: warnings, denials and what is left out.
	Report func(line string)

	cluster *offline.Cluster
	// writes are the instances and bindings of the files, in their order.
	writes []*write
	// latest is the last write of each object that was not refused.
	latest map[string]*write
}

// A write is what became of one document.
type write struct {
	manifest.Document

	result offline.Result
}

// Run admits the instances and bindings of documents, to which the other objects are the catalog,
// by a webhook with these options. It returns what would be stored, in the order of the documents,
// also beside an ErrRefused.
func (r *Rendering) Run(ctx context.Context, webhook *options.Options, documents []manifest.Document) ([]*unstructured.Unstructured, error) {
	cluster, err := offline.New(webhook) //nolint:contextcheck // it makes something in memory, and waits for nothing
	if err != nil {
		return nil, err
	}
	r.cluster, r.latest = cluster, map[string]*write{}
	wanted, err := r.load(ctx, documents)
	if err != nil {
		return nil, err
	}
	if len(wanted) == 0 {
		return nil, errors.New("there is no ServiceInstance and no ServiceBinding in the files")
	}
	if err := r.admit(ctx, wanted); err != nil {
		return nil, err
	}
	return r.stored()
}

// stored tells what became of each document, and returns the objects that are stored, each once.
func (r *Rendering) stored() (objects []*unstructured.Unstructured, err error) {
	var names []string
	refused := 0
	for _, one := range r.writes {
		r.explain(one)
		if one.result.Denied != nil {
			refused++
			continue
		}
		if name := title(one.result.Object); !slices.Contains(names, name) {
			names = append(names, name)
			objects = append(objects, r.latest[name].result.Object)
		}
	}
	if refused > 0 {
		err = fmt.Errorf("%w: %d of %d objects", ErrRefused, refused, len(r.writes))
	}
	return objects, err
}

// explain tells the warnings of one write, and its denial, in kubectl's order.
func (r *Rendering) explain(one *write) {
	name := title(one.result.Object)
	for _, warning := range one.result.Warnings {
		r.reportf("Warning: %s: %s", name, warning)
	}
	if one.result.Denied != nil {
		r.reportf("%s: %s is refused:\n%s", one.At(), name, apistatus.Text(one.result.Denied))
	}
}

// load takes in the catalog, and returns what is to be admitted. Brokers come before
// their catalogs; the order of the others does not matter.
func (r *Rendering) load(ctx context.Context, documents []manifest.Document) ([]manifest.Document, error) {
	var wanted, catalogs []manifest.Document
	others := map[string]int{}
	for _, d := range documents {
		gvk := d.Object.GroupVersionKind()
		switch {
		case gvk.Kind == brokersCatalog:
			catalogs = append(catalogs, d)
		case gvk.Group != schema.Group && gvk != corev1.SchemeGroupVersion.WithKind("Namespace"):
			others[gvk.Kind]++
		case gvk.Kind == "ServiceInstance" || gvk.Kind == "ServiceBinding":
			wanted = append(wanted, d)
		default:
			if err := r.take(&d); err != nil { //nolint:contextcheck // as with New
				return nil, err
			}
		}
	}
	for _, d := range catalogs {
		if err := r.relist(ctx, &d); err != nil {
			return nil, d.Fail(err)
		}
	}
	for _, idle := range r.cluster.Idle() {
		r.reportf("Warning: %s; it has no effect", idle.Error())
	}
	if len(others) > 0 {
		r.reportf("left out: %s", manifest.Counted(others))
	}
	return wanted, nil
}

// take loads one object of the catalog.
func (r *Rendering) take(d *manifest.Document) error {
	r.place(d.Object)
	if err := r.cluster.Load(d.Object); err != nil {
		return d.Fail(err)
	}
	return nil
}

// relist takes over a broker's catalog. A class or plan that the files give themselves
// stands.
func (r *Rendering) relist(ctx context.Context, d *manifest.Document) error {
	made, skipped, err := r.offerings(ctx, r.cluster.Reader(), d)
	if err != nil {
		return err
	}
	for _, one := range skipped {
		r.reportf("Warning: %s: %s", d.At(), one.String())
	}
	return r.cluster.Load(made...) //nolint:contextcheck // as with New
}

// place puts an object that names no namespace into the one that is asked for. One
// of the cluster's is in none, whatever it says.
func (r *Rendering) place(object *unstructured.Unstructured) {
	switch kind := object.GetKind(); {
	case kind == "Namespace", strings.HasPrefix(kind, "Cluster"), strings.HasSuffix(kind, "Policy"):
		object.SetNamespace("")
	default:
		object.SetNamespace(cmp.Or(object.GetNamespace(), r.Namespace))
	}
}

// admit applies the objects in their order, and settles those that wait: at the end,
// and before an object is written a second time, as there is time for that in a
// cluster.
func (r *Rendering) admit(ctx context.Context, wanted []manifest.Document) error {
	for _, d := range wanted {
		if err := ctx.Err(); err != nil {
			return err
		}
		r.place(d.Object)
		name := title(d.Object)
		if r.latest[name] != nil {
			if err := r.settle(ctx); err != nil {
				return err
			}
		}
		result, err := r.cluster.Apply(ctx, d.Object)
		if err != nil {
			return d.Fail(err)
		}
		done := &write{Document: d, result: result}
		r.writes = append(r.writes, done)
		if result.Denied == nil {
			r.latest[title(result.Object)] = done
		}
	}
	return r.settle(ctx)
}

// settle decides what waits. What an object that waited was told first is not so any
// more.
func (r *Rendering) settle(ctx context.Context) error {
	decided, waiting, err := r.cluster.Settle(ctx)
	if err != nil {
		return fmt.Errorf("cannot decide what waits: %w", err)
	}
	for _, result := range slices.Concat(decided, waiting) {
		was := r.latest[title(result.Object)]
		if was == nil {
			continue
		}
		if result.Denied != nil {
			result.Warnings = []string{"it stays undecided: " + result.Denied.ErrStatus.Message}
			result.Denied = nil
		}
		was.result = result
	}
	return nil
}

// title is an object as warnings call it.
func title(object *unstructured.Unstructured) string {
	name := object.GetName()
	if name == "" {
		name = object.GetGenerateName() + "…"
	}
	return fmt.Sprintf("%s %s/%s", strings.ToLower(object.GetKind()), object.GetNamespace(), name)
}

func (r *Rendering) reportf(format string, args ...any) { r.Report(fmt.Sprintf(format, args...)) }
