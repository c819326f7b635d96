package plans

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// A target is the class or plan that edits are written to.
type target struct {
	object client.Object
	// title is what it is and what people call it.
	title string
	editable
}

// write writes all edits in one write, says what was changed, and warns of tools that
// will have it otherwise. It returns the object as it is, or would be.
func (s *setting) write(ctx context.Context, c client.Client, to target, edits []*edit) (client.Object, error) {
	if len(edits) == 0 {
		return to.object, nil
	}
	patch, err := patchOf(edits)
	if err != nil {
		return nil, err
	}
	written := to.object
	released := s.released(to, edits)
	for _, e := range edits {
		e.put(to.editable)
	}
	if s.writes.Sends() {
		// What is decoded into an object does not empty it first.
		written = blankOf(to.object)
	}
	err = cli.Whole(ctx, to.title+" was set", func(ctx context.Context) error { return s.writes.Patch(ctx, c, written, patch) })
	if err != nil {
		return nil, err
	}
	s.warnOfOwners(to, written, edits)
	for _, text := range released {
		warnf(s.env, "%s", text)
	}
	changed := told(edits)
	if s.writes.Stores() && written.GetResourceVersion() == to.object.GetResourceVersion() {
		changed += " (as before)"
	}
	return written, s.writes.Say(s.env, "%s: %s", to.title, changed)
}

func (s *setting) warnOfOwners(to target, written client.Object, edits []*edit) {
	for _, e := range edits {
		still := s.writes.Sends() && ownersOf(written.GetManagedFields(), "f:spec", "f:"+e.name).broker
		for _, text := range ownersOf(to.object.GetManagedFields(), "f:spec", "f:"+e.name).warnings(e, to.title, still) {
			warnf(s.env, "%s", text)
		}
	}
}

func (s *setting) print(object client.Object) error {
	if s.writes.Output == "" {
		return nil
	}
	return s.writes.Print(s.env, object)
}
