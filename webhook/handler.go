package webhook

import (
	"context"
	"fmt"
	"reflect"
	"runtime/debug"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
)

// A verdict is what a handler decided about one request.
type verdict struct {
	// denied is nil when the request is allowed.
	denied   *denial
	patch    patch
	warnings []string
	audits   map[string]string
	// rule is the rule that decided the object, ruleNone if none did.
	rule   string
	chosen resolve.Ref
	// parameterBytes is the size of the parameters that are to be stored; 0 where
	// there are none, or where they were not looked at.
	parameterBytes int
}

func (v *verdict) deny(d *denial) { v.denied = v.denied.also(d) }

// audit adds an audit annotation; the API server puts the hook's name before key.
func (v *verdict) audit(key, value string) {
	if v.audits == nil {
		v.audits = map[string]string{}
	}
	v.audits[key] = value
}

// warnf tells the requester something, in at most the 256 runes that the API
// server passes on.
func (v *verdict) warnf(format string, args ...any) {
	const most = 250
	text := []rune(fmt.Sprintf(format, args...))
	if len(text) > most {
		text = append(text[:most-1], '…')
	}
	v.warnings = append(v.warnings, string(text))
}

// A judge decides one request of one kind. An error is a failure of ours.
type judge func(ctx context.Context, req *admission.Request) (verdict, error)

// A phase is one of the two halves of admission.
type phase string

const (
	mutating   phase = "mutate"
	validating phase = "validate"
)

// serve turns a judge into a decider: it guards the judge against requests that
// are not its own, and tells every decision once as answer, metric and log line.
func serve(half phase, kind string, judge judge) decider {
	return func(ctx context.Context, req *admission.Request) (admission.Response, error) {
		if denied := notOurs(req, kind); denied != nil {
			// Counted under the hook's kind: the request's would be whatever it says.
			refusals.WithLabelValues(string(half), kind, denied.label).Inc()
			refused := verdict{denied: denied, rule: ruleNone}
			writeDown(ctx, half, req, &refused, denied.label, 0)
			return answer(req, &refused)
		}
		if req.SubResource != "" || (req.Operation != admissionv1.Create && req.Operation != admissionv1.Update) {
			return admission.Allowed(""), nil
		}
		start := time.Now()
		ctx, span := startSpan(ctx, half, kind)
		decided, response, err := judge.answer(ctx, req)
		outcome := outcomeOf(&decided, err)
		endSpan(span, req, &decided, outcome)
		tell(ctx, half, req, &decided, outcome, time.Since(start))
		return response, err
	}
}

// answer is what a judge decides, and that as it is sent. What cannot be sent is a failure,
// and so is a panic, the text of which reaches no one: it may quote what the user wrote.
func (j judge) answer(ctx context.Context, req *admission.Request) (decided verdict, response admission.Response, err error) {
	defer func() {
		if recover() != nil {
			log.FromContext(ctx).Error(errPanic, "admission handler panicked", "uid", req.UID, "client", clientOf(ctx), "stack", string(debug.Stack()))
			decided, response, err = verdict{rule: ruleNone}, admission.Response{}, errPanic
		}
	}()
	if decided, err = j(ctx, req); err == nil {
		response, err = answer(req, &decided)
	}
	return decided, response, err
}

// notOurs refuses a request of another kind: the configuration is wrong.
func notOurs(req *admission.Request, kind string) *denial {
	if req.Kind.Group == v1beta1.GroupName && req.Kind.Kind == kind {
		return nil
	}
	return badReview("this webhook admits %s of %s, and was asked about %s of %q; correct the webhook configuration",
		kind, v1beta1.GroupName, req.Kind.Kind, req.Kind.Group)
}

func answer(req *admission.Request, decided *verdict) (admission.Response, error) {
	response := admission.Allowed("")
	if decided.denied != nil {
		response = decided.denied.response(req)
	}
	response.Warnings = decided.warnings
	response.AuditAnnotations = decided.audits
	if decided.denied != nil || len(decided.patch.ops) == 0 {
		return response, nil
	}
	// Encoded here in one go: Response.Complete encodes each operation twice.
	var err error
	patchType := admissionv1.PatchTypeJSONPatch
	response.PatchType = &patchType
	if response.Patch, err = decided.patch.encode(); err != nil {
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
func outcomeOf(decided *verdict, failure error) string {
	switch {
	case failure != nil:
		return outcomeFailed
	case decided.denied != nil:
		return decided.denied.label
	}
	return outcomeAllowed
}

// tell counts a decision and writes it down.
func tell(ctx context.Context, half phase, req *admission.Request, decided *verdict, outcome string, took time.Duration) {
	observe(half, req, decided, outcome, took)
	writeDown(ctx, half, req, decided, outcome, took)
}

// writeDown logs a decision: never a parameter, and of the object only its name.
func writeDown(ctx context.Context, half phase, req *admission.Request, decided *verdict, outcome string, took time.Duration) {
	log.FromContext(ctx).Info("admission",
		"phase", half, "operation", req.Operation, "kind", req.Kind.Kind, "namespace", req.Namespace, "name", req.Name,
		"uid", req.UID, "user", req.UserInfo.Username, "client", clientOf(ctx), "dryRun", req.DryRun != nil && *req.DryRun,
		"rule", decided.rule, "plan", planText(decided.chosen), "outcome", outcome, "took", took.String())
}

func planText(plan resolve.Ref) string {
	if plan.Namespace == "" {
		return plan.Name
	}
	return fmt.Sprintf("%s/%s", plan.Namespace, plan.Name)
}

// sameValue compares two values of a spec, or of decoded JSON.
func sameValue(a, b any) bool { return reflect.DeepEqual(a, b) }
