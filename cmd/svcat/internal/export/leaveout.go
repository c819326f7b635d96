package export

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/moving"
)

// leaveOut drops and notes what no file can have, and what has the ID of an object of another
// namespace. A user may store an object that is too large for a file, and so may a broker: the others
// are exported all the same.
func (g *gatherer) leaveOut() {
	c := g.contents
	refused := map[client.Object]string{}
	for _, object := range c.Objects() {
		if err := moving.Refused(object); err != nil {
			refused[object] = err.Error()
			g.leaves(object, atBroker(object))
		}
	}
	c.Brokers, c.Classes, c.Plans = kept(g, refused, c.Brokers), kept(g, refused, c.Classes), kept(g, refused, c.Plans)
	c.Instances, c.Bindings = kept(g, refused, c.Instances), kept(g, refused, c.Bindings)
}

func kept[T client.Object](g *gatherer, refused map[client.Object]string, of []T) []T {
	return slices.DeleteFunc(of, func(object T) bool {
		why := refused[object]
		if holder := g.elsewhere[atBroker(object)]; why == "" && holder != nil {
			why = moving.SharedWith(holder)
		}
		if why != "" {
			g.notes = append(g.notes, fmt.Sprintf("%s is not in the file, and neither it nor what needs it can be moved: %s", moving.Title(object), why))
		}
		return why != ""
	})
}

// leaves takes in that an object is not in the file, and what it stands for at its broker. One that is
// called the same there is not exported, either: moved, it would have two owners.
func (g *gatherer) leaves(object client.Object, what string) {
	if what != "" {
		g.elsewhere[what] = object
	}
}

// wrongType is of an object that was stored while nothing validated it.
const wrongType = "a field is not of its type; correct it on the old side, then export again"

// unreadable notes the objects of a kind that cannot be read.
func (g *gatherer) unreadable(kind client.Object) func(*unstructured.Unstructured) {
	return func(found *unstructured.Unstructured) {
		object, _ := kind.DeepCopyObject().(client.Object)
		g.notes = append(g.notes, fmt.Sprintf("%s is not in the file, and cannot be moved: %s", titleOf(object, found.GetNamespace(), found.GetName()), wrongType))
		g.leavesUnread(object, found)
	}
}

// leavesUnread takes in the IDs of an object that cannot be read.
func (g *gatherer) leavesUnread(object client.Object, found *unstructured.Unstructured) {
	for _, part := range []string{"spec", "status"} {
		if id, _, _ := unstructured.NestedString(found.Object, part, "externalID"); id != "" {
			g.leaves(object, moving.KindOf(object)+" "+id)
		}
	}
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
	for _, of := range moved {
		err := catalog.Readable(ctx, g.reader, of, func(object client.Object) error {
			if object.GetNamespace() != namespace && own[atBroker(object)] {
				g.leaves(object, atBroker(object))
			}
			return nil
		}, func(found *unstructured.Unstructured) {
			object, _ := of.Object.DeepCopyObject().(client.Object)
			titleOf(object, found.GetNamespace(), found.GetName())
			g.leavesUnread(object, found)
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
