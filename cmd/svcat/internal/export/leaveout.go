package export

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/moving"
)

// leaveOut drops and notes what no file can have, and what has the ID of an object of another
// namespace. A user may store an object that is too large for a file, and so may a broker: the others
// are exported all the same.
func (g *gatherer) leaveOut() {
	c := g.contents
	c.Brokers, c.Classes, c.Plans = kept(g, c.Brokers), kept(g, c.Classes), kept(g, c.Plans)
	c.Instances, c.Bindings = kept(g, c.Instances), kept(g, c.Bindings)
}

func kept[T client.Object](g *gatherer, of []T) []T {
	return slices.DeleteFunc(of, func(object T) bool {
		why := g.refusal(object)
		if why != "" {
			g.notes = append(g.notes, fmt.Sprintf("%s is not in the file, and neither it nor what needs it can be moved: %s", moving.Title(object), why))
		}
		return why != ""
	})
}

// refusal is why an object is not in the file; empty: it is.
func (g *gatherer) refusal(object client.Object) string {
	if err := moving.Refused(object); err != nil {
		return err.Error()
	}
	if holder := g.elsewhere[atBroker(object)]; holder != nil {
		return moving.SharedWith(holder)
	}
	return ""
}

// atBroker names what an instance or binding stands for at its broker; empty: nothing yet.
func atBroker(object client.Object) string {
	id := moving.IDOf(object)
	if id == "" {
		return ""
	}
	return moving.KindOf(object) + " " + id
}

// lookElsewhere finds the objects of other namespaces that have an ID of one that was read. The retired
// catalog lets each user choose IDs, also that of another's database: moved, it would have two owners.
func (g *gatherer) lookElsewhere(ctx context.Context, namespace string) error {
	own := map[string]bool{}
	for _, object := range g.contents.Objects() {
		own[atBroker(object)] = true
	}
	delete(own, "")
	unseen := false
	for _, list := range []client.ObjectList{&v1beta1.ServiceInstanceList{}, &v1beta1.ServiceBindingList{}} {
		err := catalog.Pages(ctx, g.reader, list, func(item runtime.Object) error {
			object, is := item.(client.Object)
			if is && object.GetNamespace() != namespace && own[atBroker(object)] {
				g.elsewhere[atBroker(object)] = object
			}
			return nil
		})
		switch {
		case apierrors.IsForbidden(err):
			unseen = true
		case err != nil:
			return err
		}
	}
	if unseen {
		g.notes = append(g.notes, "it cannot be seen whether objects of other namespaces have the same IDs at the broker: there is no right to list them")
	}
	return nil
}
