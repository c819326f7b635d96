package render

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/manifest"
	"github.com/defaultplan/defaultplan/deploy/schema"
	"github.com/defaultplan/defaultplan/webhook/offline"
)

// A rendering is what is known of the files while they are admitted.
type rendering struct {
	*command

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

// run admits what the files hold, and prints it.
func (c *command) run(ctx context.Context) error {
	if err := c.validate(); err != nil {
		return err
	}
	documents, err := c.files.Read(c.env)
	if err != nil {
		return err
	}
	cluster, err := offline.New(c.options) //nolint:contextcheck // it makes something in memory, and waits for nothing
	if err != nil {
		return err
	}
	r := &rendering{command: c, cluster: cluster, latest: map[string]*write{}}
	wanted, err := r.load(ctx, documents)
	if err != nil {
		return err
	}
	if len(wanted) == 0 {
		return errors.New("there is no ServiceInstance and no ServiceBinding in the files")
	}
	if err := r.admit(ctx, wanted); err != nil {
		return err
	}
	if err := r.print(); err != nil {
		return err
	}
	return r.verdict()
}

// load takes in the catalog, and returns what is to be admitted. Brokers come before
// their catalogs; the order of the others does not matter.
func (r *rendering) load(ctx context.Context, documents []manifest.Document) ([]manifest.Document, error) {
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
		r.tellf("Warning: %s; it has no effect", idle.Error())
	}
	if len(others) > 0 {
		r.tellf("left out: %s", manifest.Counted(others))
	}
	return wanted, nil
}

// take loads one object of the catalog.
func (r *rendering) take(d *manifest.Document) error {
	r.place(d.Object)
	if err := r.cluster.Load(d.Object); err != nil {
		return d.Fail(err)
	}
	return nil
}

// relist takes over a broker's catalog. A class or plan that the files give themselves
// stands.
func (r *rendering) relist(ctx context.Context, d *manifest.Document) error {
	made, skipped, err := r.offerings(ctx, r.cluster.Reader(), d)
	if err != nil {
		return err
	}
	for _, one := range skipped {
		r.tellf("Warning: %s: %s", d.At(), one.String())
	}
	return r.cluster.Load(made...) //nolint:contextcheck // as with New
}

// place puts an object that names no namespace into the one that is asked for. One
// of the cluster's is in none, whatever it says.
func (r *rendering) place(object *unstructured.Unstructured) {
	switch kind := object.GetKind(); {
	case kind == "Namespace", strings.HasPrefix(kind, "Cluster"), strings.HasSuffix(kind, "Policy"):
		object.SetNamespace("")
	default:
		object.SetNamespace(cmp.Or(object.GetNamespace(), r.namespace()))
	}
}

// admit applies the objects in their order, and settles those that wait: at the end,
// and before an object is written a second time, as there is time for that in a
// cluster.
func (r *rendering) admit(ctx context.Context, wanted []manifest.Document) error {
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
func (r *rendering) settle(ctx context.Context) error {
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

// verdict is the error that ends the command where something is refused.
func (r *rendering) verdict() error {
	refused := 0
	for _, one := range r.writes {
		if one.result.Denied != nil {
			refused++
		}
	}
	if refused > 0 {
		return fmt.Errorf("refused: %d of %d objects", refused, len(r.writes))
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

func (r *rendering) tellf(format string, args ...any) {
	// A user who does not want to be told closes the stream; the objects still come.
	_, _ = fmt.Fprintf(r.env.ErrOut, format+"\n", args...)
}
