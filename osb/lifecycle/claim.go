package lifecycle

import (
	"time"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// ofInstance is the value of Record.Refused if the failure is that of a
// dedicated instance: it ends as soon as the instance can be bound to, without
// a change of spec.
const ofInstance = "instance"

// part clears the record of what was at the broker, and reports what remains of
// the resource.
func (r *Record) part(remains *Problem, now time.Time) {
	r.Operation, r.Async, r.Key, r.Mitigating, r.KeepsID, r.FetchRequired = NoOperation, false, nil, false, false, false
	r.Started, r.Deadline, r.NextRetry, r.Retries = time.Time{}, time.Time{}, time.Time{}, 0
	r.Exists, r.InProgress, r.Applied, r.SecretName, r.Refused = false, nil, nil, "", ""
	if r.DeprovisionStatus == DeprovisionRequired {
		r.DeprovisionStatus = DeprovisionNotRequired
	}
	ready := v1beta1.NotReady(remains.Reason, remains.Message)
	if remains.Waits {
		ready = v1beta1.Waiting(remains.Reason, remains.Message)
	}
	r.report(now).unset(v1beta1.ConditionFailed, v1beta1.ConditionOrphanMitigation)
	r.report(now).set(ready)
	r.report(now).busy(remains.Reason, remains.Message)
}

// ofOwnInstance reports the problem of the dedicated instance.
func (r *Record) ofOwnInstance(p *Problem, now time.Time) bool {
	if r.Refused == ofInstance {
		r.Refused = ""
	}
	if p.Failed {
		r.Refused = ofInstance
		r.report(now).fail(p.Reason, p.Message)
	}
	return p.Failed
}
