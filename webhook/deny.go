package webhook

import (
	"fmt"
	"net/http"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/commands"
)

const (
	// maxCauses is how many fields at fault are named.
	maxCauses = 32
	// maxMessage bounds what is said of each, in bytes: it may repeat what was written, which no schema has bounded yet.
	maxMessage = 8 << 10
)

// A denial is a refused request: what is wrong, and the way out. Its text names
// fields, classes and plans, never a parameter's value. This file is the only
// place where refusals become answers.
type denial struct {
	code   int32
	reason metav1.StatusReason
	// label is the refusal in one stable word, for metrics and logs.
	label string
	// causes are the fields at fault; at least one.
	causes []metav1.StatusCause
	// remedies are commands, or what to write instead.
	remedies []string
}

// invalid refuses a field of the object: HTTP 422.
func invalid(label, field, format string, args ...any) *denial {
	return &denial{
		code: http.StatusUnprocessableEntity, reason: metav1.StatusReasonInvalid, label: label,
		causes: []metav1.StatusCause{{Type: metav1.CauseTypeFieldValueInvalid, Field: field, Message: fmt.Sprintf(format, args...)}},
	}
}

// forbidden refuses what the requester, or the place, has no right to: HTTP 403.
func forbidden(label, field, format string, args ...any) *denial {
	return &denial{
		code: http.StatusForbidden, reason: metav1.StatusReasonForbidden, label: label,
		causes: []metav1.StatusCause{{Type: metav1.CauseTypeForbidden, Field: field, Message: fmt.Sprintf(format, args...)}},
	}
}

// remedy adds the way out.
func (d *denial) remedy(format string, args ...any) *denial {
	d.remedies = append(d.remedies, fmt.Sprintf(format, args...))
	return d
}

// ways adds a way out that has commands.
func (d *denial) ways(lead string, ways commands.Ways) *denial {
	d.remedies = append(d.remedies, ways.Lines(lead)...)
	return d
}

// also adds another field at fault, unless there are enough; d may be nil.
func (d *denial) also(other *denial) *denial {
	switch {
	case other == nil:
		return d
	case d == nil:
		return other
	case d.full():
		return d
	}
	d.causes = append(d.causes, other.causes...)
	d.remedies = append(d.remedies, other.remedies...)
	return d
}

// full says that another field at fault would not be named.
func (d *denial) full() bool { return d != nil && len(d.causes) >= maxCauses }

// badReview refuses what can only come from a wrong webhook configuration.
func badReview(format string, args ...any) *denial {
	return &denial{
		code: http.StatusBadRequest, reason: metav1.StatusReasonBadRequest, label: "BadReview",
		causes: []metav1.StatusCause{{Type: metav1.CauseTypeUnexpectedServerResponse, Message: fmt.Sprintf(format, args...)}},
	}
}

// message is the whole text. kubectl prints either this or the causes, so the
// last cause carries the way out as well.
func (d *denial) message() string {
	lines := make([]string, 0, len(d.causes)+1)
	for _, cause := range d.causes {
		if cause.Field == "" {
			lines = append(lines, shortened(cause.Message))
			continue
		}
		lines = append(lines, shortened(cause.Field)+": "+shortened(cause.Message))
	}
	return strings.Join(append(lines, d.wayOut()...), "\n")
}

func (d *denial) wayOut() []string {
	lines := make([]string, len(d.remedies))
	for i, remedy := range d.remedies {
		lines[i] = "  → " + shortened(remedy)
	}
	return lines
}

// shortened cuts a text between two characters.
func shortened(text string) string {
	if len(text) <= maxMessage {
		return text
	}
	return strings.ToValidUTF8(text[:maxMessage], "") + "…"
}

// response is the answer that the API server passes on.
func (d *denial) response(req *admission.Request) admission.Response {
	causes := make([]metav1.StatusCause, len(d.causes))
	for i, cause := range d.causes {
		causes[i] = metav1.StatusCause{Type: cause.Type, Field: shortened(cause.Field), Message: shortened(cause.Message)}
	}
	if last := len(causes) - 1; last >= 0 {
		causes[last].Message = strings.Join(append([]string{causes[last].Message}, d.wayOut()...), "\n")
	}
	return admission.Response{AdmissionResponse: admissionv1.AdmissionResponse{
		Allowed: false,
		Result: &metav1.Status{
			Status: metav1.StatusFailure, Code: d.code, Reason: d.reason, Message: d.message(),
			Details: &metav1.StatusDetails{
				Group: v1beta1.GroupName, Kind: req.Kind.Kind, Name: nameOf(req), Causes: causes,
			},
		},
	}}
}

// nameOf is the object's name as its user knows it: with generateName there is
// none yet.
func nameOf(req *admission.Request) string {
	if req.Name != "" {
		return req.Name
	}
	return "(new)"
}
