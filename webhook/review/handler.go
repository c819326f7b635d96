package review

import (
	"context"
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"
	"time"
	"unicode/utf8"

	admissionv1 "k8s.io/api/admission/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
)

// RuleNone is the rule of a request for which no plan was looked for.
const RuleNone = "none"

// The rules beside those of package resolve.
const (
	// RuleRestored is the rule of an object that came with its references.
	RuleRestored = "restored"
	// RuleUndecided is an attempt to decide that did not succeed.
	RuleUndecided = "undecided"
)

// A Result is what a handler decided about one request.
type Result struct {
	// Denied is nil when the request is allowed.
	Denied *Denial
	// Patch is what admission adds to the object.
	Patch Patch
	// Warnings are shown to the requester.
	Warnings []string
	// Audits are the audit annotations.
	Audits map[string]string
	// Rule is the rule that decided the object, RuleNone if none did.
	Rule string
	// Chosen is the plan that was chosen, empty if none was.
	Chosen resolve.Ref
	// ParameterBytes is the size of the parameters that are to be stored; 0 where
	// there are none, or where they were not looked at.
	ParameterBytes int
}

// Deny denies the request, or adds a field at fault to its denial.
func (v *Result) Deny(d *Denial) { v.Denied = v.Denied.Also(d) }

// Decide records the rule and the plan that the object is decided by, for metrics, logs and the
// audit log; title is the plan as people know it.
func (v *Result) Decide(rule string, plan resolve.Ref, title string) {
	v.Rule, v.Chosen = rule, plan
	v.Audit("rule", rule)
	v.Audit("plan", title)
}

// Audit adds an audit annotation; the API server puts the hook's name before key.
func (v *Result) Audit(key, value string) {
	if v.Audits == nil {
		v.Audits = map[string]string{}
	}
	v.Audits[key] = value
}

// maxWarning is how many runes a warning has: the API server may cut one of more than 256.
const maxWarning = 250

// Warnf tells the requester something.
func (v *Result) Warnf(format string, args ...any) {
	text := []rune(fmt.Sprintf(format, args...))
	if len(text) > maxWarning {
		text = append(text[:maxWarning-1], '…')
	}
	v.Warnings = append(v.Warnings, string(text))
}

// WarnNames tells the requester a text that ends with names. Names that do not fit go into
// further warnings, of which there are few: the API server passes on 4,096 runes of all.
func (v *Result) WarnNames(text string, names []string) {
	const most = 8
	for range most {
		if len(names) == 0 {
			return
		}
		line, rest := text+names[0], names[1:]
		for len(rest) > 0 && utf8.RuneCountInString(line+", "+rest[0]) <= maxWarning {
			line, rest = line+", "+rest[0], rest[1:]
		}
		v.Warnf("%s", line)
		text, names = "and also: ", rest
	}
	if len(names) > 0 {
		v.Warnf("and %d more", len(names))
	}
}

// A Handler decides one admission request of one kind. An error means an internal failure
// (HTTP 500), not a denial.
type Handler func(ctx context.Context, req *admission.Request) (Result, error)

// A Phase is one of the two phases of admission.
type Phase string

const (
	// Mutating is the phase in which admission completes an object.
	Mutating Phase = "mutate"
	// Validating is the phase in which admission allows or denies an object.
	Validating Phase = "validate"
)

// Serve serves a handler over HTTP: it answers the reviews of one phase for objects of
// one kind.
func Serve(phase Phase, kind string, handler Handler) http.Handler {
	return endpoint{decide: decide(phase, kind, handler)}
}

// decide turns a handler into a decider: it guards the handler against requests that
// are not its own, and tells every decision once as answer, metric and log line.
func decide(phase Phase, kind string, handler Handler) decider {
	return func(ctx context.Context, req *admission.Request) (admission.Response, error) {
		if denied := notOurs(req, kind); denied != nil {
			// Counted under the hook's kind: the request's would be whatever it says.
			refusals.WithLabelValues(string(phase), kind, denied.Label).Inc()
			refused := Result{Denied: denied, Rule: RuleNone}
			writeDown(ctx, phase, req, &refused, denied.Label, 0)
			return answer(req, &refused)
		}
		if req.SubResource != "" || (req.Operation != admissionv1.Create && req.Operation != admissionv1.Update) {
			return admission.Allowed(""), nil
		}
		start := time.Now()
		ctx, span := startSpan(ctx, phase, kind)
		decided, response, err := handler.answer(ctx, req)
		outcome := outcomeOf(&decided, err)
		endSpan(span, req, &decided, outcome)
		tell(ctx, phase, req, &decided, outcome, time.Since(start))
		return response, err
	}
}

// answer is what a handler decides, and that as it is sent. What cannot be sent is a failure,
// and so is a panic, the text of which reaches no one: it may quote what the user wrote.
func (h Handler) answer(ctx context.Context, req *admission.Request) (decided Result, response admission.Response, err error) {
	defer func() {
		if recover() != nil {
			log.FromContext(ctx).Error(errPanic, "admission handler panicked", "uid", req.UID, "client", clientOf(ctx), "stack", string(debug.Stack()))
			decided, response, err = Result{Rule: RuleNone}, admission.Response{}, errPanic
		}
	}()
	if decided, err = h(ctx, req); err == nil {
		response, err = answer(req, &decided)
	}
	return decided, response, err
}

// notOurs refuses a request of another kind: the configuration is wrong.
func notOurs(req *admission.Request, kind string) *Denial {
	if req.Kind.Group == v1beta1.GroupName && req.Kind.Kind == kind {
		return nil
	}
	return badReview("this webhook admits %s of %s, and was asked about %s of %q; correct the webhook configuration",
		kind, v1beta1.GroupName, req.Kind.Kind, req.Kind.Group)
}

func answer(req *admission.Request, decided *Result) (admission.Response, error) {
	response := admission.Allowed("")
	if decided.Denied != nil {
		response = decided.Denied.response(req)
	}
	response.Warnings = decided.Warnings
	response.AuditAnnotations = decided.Audits
	if decided.Denied != nil || len(decided.Patch.ops) == 0 {
		return response, nil
	}
	// Encoded here in one go: Response.Complete encodes each operation twice.
	var err error
	patchType := admissionv1.PatchTypeJSONPatch
	response.PatchType = &patchType
	if response.Patch, err = decided.Patch.encode(); err != nil {
		return admission.Response{}, err
	}
	patchSizes.WithLabelValues(req.Kind.Kind).Observe(float64(len(response.Patch)))
	return response, nil
}

// Outcomes beside the reasons of refusals.
const (
	outcomeAllowed = "allowed"
	outcomeFailed  = "failed"
)

// outcomeOf is a decision in one word, as metrics and logs say it.
func outcomeOf(decided *Result, failure error) string {
	switch {
	case failure != nil:
		return outcomeFailed
	case decided.Denied != nil:
		return decided.Denied.Label
	}
	return outcomeAllowed
}

// tell counts a decision and writes it down.
func tell(ctx context.Context, phase Phase, req *admission.Request, decided *Result, outcome string, took time.Duration) {
	observe(phase, req, decided, outcome, took)
	writeDown(ctx, phase, req, decided, outcome, took)
}

// writeDown logs a decision: never a parameter, and of the object only its name.
func writeDown(ctx context.Context, phase Phase, req *admission.Request, decided *Result, outcome string, took time.Duration) {
	log.FromContext(ctx).Info("admission",
		"phase", phase, "operation", req.Operation, "kind", req.Kind.Kind, "namespace", req.Namespace, "name", req.Name,
		"uid", req.UID, "user", req.UserInfo.Username, "client", clientOf(ctx), "dryRun", req.DryRun != nil && *req.DryRun,
		"rule", decided.Rule, "plan", planText(decided.Chosen), "outcome", outcome, "took", took.String())
}

// planText is a plan in a log line, with its namespace if it has one.
func planText(plan resolve.Ref) string { return strings.TrimPrefix(plan.Namespace+"/"+plan.Name, "/") }
