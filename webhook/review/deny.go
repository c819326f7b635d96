package review

import (
	"fmt"
	"net/http"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/suggest"
)

const (
	// maxCauses bounds how many invalid fields are named.
	maxCauses = 32
	// maxMessage bounds the message of each, in bytes: it may quote the object,
	// which no schema has bounded yet.
	maxMessage = 8 << 10
)

// A Denial is a denied request: what is wrong, and the remedies. Its text names
// fields, classes and plans, never a parameter's value. This file is the only
// place where denials become responses.
type Denial struct {
	code   int32
	reason metav1.StatusReason
	// Label is the denial's reason in one stable word, for metrics and logs.
	Label string
	// Causes are the invalid fields; at least one.
	Causes []metav1.StatusCause
	// Remedies are commands, or what to write instead.
	Remedies []string
}

// Invalid denies a field of the object: HTTP 422.
func Invalid(label, field, format string, args ...any) *Denial {
	return &Denial{
		code: http.StatusUnprocessableEntity, reason: metav1.StatusReasonInvalid, Label: label,
		Causes: []metav1.StatusCause{{Type: metav1.CauseTypeFieldValueInvalid, Field: field, Message: fmt.Sprintf(format, args...)}},
	}
}

// Forbidden denies what is not permitted to the requester, or in the namespace:
// HTTP 403.
func Forbidden(label, field, format string, args ...any) *Denial {
	return &Denial{
		code: http.StatusForbidden, reason: metav1.StatusReasonForbidden, Label: label,
		Causes: []metav1.StatusCause{{Type: metav1.CauseTypeForbidden, Field: field, Message: fmt.Sprintf(format, args...)}},
	}
}

// Immutable refuses to change a field, and says why.
func Immutable(field, why string) *Denial {
	return Invalid("Immutable", field, "it cannot change: %s", why)
}

// Remedy adds a remedy.
func (d *Denial) Remedy(format string, args ...any) *Denial {
	d.Remedies = append(d.Remedies, fmt.Sprintf(format, args...))
	return d
}

// Ways adds a remedy with commands.
func (d *Denial) Ways(lead string, ways suggest.Ways) *Denial {
	d.Remedies = append(d.Remedies, ways.Lines(lead)...)
	return d
}

// Also adds another invalid field, up to maxCauses; d may be nil.
func (d *Denial) Also(other *Denial) *Denial {
	switch {
	case other == nil:
		return d
	case d == nil:
		return other
	case d.Full():
		return d
	}
	d.Causes = append(d.Causes, other.Causes...)
	d.Remedies = append(d.Remedies, other.Remedies...)
	return d
}

// Full says whether another invalid field would not be named.
func (d *Denial) Full() bool { return d != nil && len(d.Causes) >= maxCauses }

// badReview denies what can only come from a wrong webhook configuration.
func badReview(format string, args ...any) *Denial {
	return &Denial{
		code: http.StatusBadRequest, reason: metav1.StatusReasonBadRequest, Label: "BadReview",
		Causes: []metav1.StatusCause{{Type: metav1.CauseTypeUnexpectedServerResponse, Message: fmt.Sprintf(format, args...)}},
	}
}

// Message is the whole text. kubectl prints either this or the causes, so the
// last cause has the remedies as well.
func (d *Denial) Message() string {
	lines := make([]string, 0, len(d.Causes)+1)
	for _, cause := range d.Causes {
		if cause.Field == "" {
			lines = append(lines, shortened(cause.Message))
			continue
		}
		lines = append(lines, shortened(cause.Field)+": "+shortened(cause.Message))
	}
	return strings.Join(append(lines, d.wayOut()...), "\n")
}

func (d *Denial) wayOut() []string {
	lines := make([]string, len(d.Remedies))
	for i, remedy := range d.Remedies {
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

// response is the admission response.
func (d *Denial) response(req *admission.Request) admission.Response {
	causes := make([]metav1.StatusCause, len(d.Causes))
	for i, cause := range d.Causes {
		causes[i] = metav1.StatusCause{Type: cause.Type, Field: shortened(cause.Field), Message: shortened(cause.Message)}
	}
	if last := len(causes) - 1; last >= 0 {
		causes[last].Message = strings.Join(append([]string{causes[last].Message}, d.wayOut()...), "\n")
	}
	return admission.Response{AdmissionResponse: admissionv1.AdmissionResponse{
		Allowed: false,
		Result: &metav1.Status{
			Status: metav1.StatusFailure, Code: d.code, Reason: d.reason, Message: d.Message(),
			Details: &metav1.StatusDetails{
				Group: v1beta1.GroupName, Kind: req.Kind.Kind, Name: NameOf(req), Causes: causes,
			},
		},
	}}
}

// NameOf is the object's name as its user knows it: with generateName there is
// none yet.
func NameOf(req *admission.Request) string {
	if req.Name != "" {
		return req.Name
	}
	return "(new)"
}
