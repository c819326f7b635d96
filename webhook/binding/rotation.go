package binding

import (
	"time"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// hastyRotation is the minimum time between two rotations.
const hastyRotation = time.Minute

// isHasty says that a write sets a time between rotations that is below the minimum; was is the
// stored rotation, nil for none.
func isHasty(was, now *v1beta1.Rotation) bool {
	if now == nil || now.Every == nil || now.Every.Duration >= hastyRotation {
		return false
	}
	return was == nil || was.Every == nil || *was.Every != *now.Every
}

// keepRequests is a rotation whose count of requests does not decrease: the next increase would
// reach a count that was served already, and have no effect. It is now itself where it does not.
func keepRequests(was, now *v1beta1.Rotation) *v1beta1.Rotation {
	if was == nil || now == nil || now.Requests >= was.Requests {
		return now
	}
	kept := *now
	kept.Requests = was.Requests
	return &kept
}
