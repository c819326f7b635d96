package binding

import (
	"time"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// hastyRotation is the minimum time between two rotations.
const hastyRotation = time.Minute

// warnHasty warns of a new spec.rotation.every that is below the minimum. was
// is the stored rotation, nil for none.
func (m *mutation) warnHasty(was *v1beta1.Rotation) {
	now := m.spec.Rotation
	if now == nil || now.Every == nil || now.Every.Duration >= hastyRotation ||
		was != nil && was.Every != nil && *was.Every == *now.Every {
		return
	}
	m.Warnf("spec.rotation.every is %s, and credentials are kept for a minute at least", now.Every.Duration)
}

// keepRequests prevents spec.rotation.requests from decreasing, and says
// whether the write tried that: the next increase would reach a count that was
// served already, and have no effect.
func (m *mutation) keepRequests() bool {
	was, now := m.Old.Spec.Rotation, m.spec.Rotation
	if was == nil || now == nil || now.Requests >= was.Requests {
		return false
	}
	kept := *now
	kept.Requests = was.Requests
	m.spec.Rotation = &kept
	return true
}

// given is the spec that the requester wrote, with a count that is kept: that is patched by
// itself, for the times beside it are to stay as they are written.
func (m *mutation) given() *bindingSpec {
	wrote, kept := m.New.Spec.Rotation, m.spec.Rotation
	if wrote == nil || kept == nil || wrote.Requests == kept.Requests {
		return m.New.Spec
	}
	m.Patch.Add(kept.Requests, "spec", fieldRotation, "requests")
	given := *m.New.Spec
	given.Rotation = kept
	return &given
}
