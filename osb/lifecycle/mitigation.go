package lifecycle

import "github.com/defaultplan/defaultplan/osb"

// Orphans says whether a call that failed may have left an unknown resource at the broker,
// which must then be removed. It implements the table "Orphan Mitigation" of the
// specification, v2.17.
//
//	request                       | answer                          | mitigate
//	any                           | 200, malformed                  | no
//	provision, bind               | 201 or 202, malformed           | yes
//	provision, bind, deprovision, | any other 2xx                   | yes
//	unbind                        | 5xx                             | yes
//	update                        | any other 2xx, 5xx              | no
//	any                           | 408 and all other 4xx           | no
//	provision, bind               | none in time, or cut off        | yes
//	any other                     | none in time, or cut off        | no
//	any                           | it was never sent               | no
//
// The table does not cover 3xx. For provision and bind it counts as 5xx, because it is
// unknown which server acted; for other requests it means no. That a poll says "failed" is not an
// error; see Resource.HandleResult. For removals "mitigate" means to remove again, which is
// done for every failure.
func Orphans(step Step, err *osb.Error) bool {
	making := step == Provision
	removing := step == Deprovision || step == MitigateOrphan
	status := err.StatusCode
	switch {
	case err.Kind == osb.NeverSent:
		return false
	case status == 0: // no answer
		return making
	case err.Malformed:
		return making && (status == statusCreated || status == statusAccepted)
	case status >= statusInternalServerError:
		return making || removing
	case status >= statusBadRequest:
		return false
	case status >= statusMultipleChoices:
		return making
	}
	return making || removing
}
