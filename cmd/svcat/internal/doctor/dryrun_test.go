package doctor

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

var (
	errUnreachable = apierrors.NewInternalError(errors.New(`failed calling webhook "mutate.x": failed to call webhook: Post "https://h": dial tcp: connection refused`))
	errUntrusted   = apierrors.NewInternalError(errors.New(`failed calling webhook "mutate.x": failed to call webhook: Post "https://h": tls: failed to verify certificate: x509: certificate has expired`))
	errByWebhook   = &apierrors.StatusError{ErrStatus: metav1.Status{Reason: metav1.StatusReasonInvalid, Code: 422, Message: `admission webhook "mutate.x" denied the request: spec: it names no plan`}}
	errBySchema    = apierrors.NewInvalid(schema.GroupKind{Kind: "ServiceInstance"}, "x", nil)
	errByPolicy    = &apierrors.StatusError{ErrStatus: metav1.Status{Reason: metav1.StatusReasonForbidden, Code: 403, Message: `admission webhook "validate.x" denied the request: policy`}}
	errByRights    = apierrors.NewForbidden(schema.GroupResource{Resource: "serviceinstances"}, "", errors.New(`user "jane" cannot create`))
	errNoNamespace = apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "ns")
)

// tried are dry runs in namespace ns.
var tried = admission{namespace: "ns", system: "elsewhere"}

// TestRefusalsAreNotQuoted: in a bundle, the reason is all that is told of what any plugin says.
func TestRefusalsAreNotQuoted(t *testing.T) {
	t.Parallel()
	quiet := tried
	quiet.reasonsOnly = true
	for want, err := range map[string]error{
		`not tried in namespace "ns": Forbidden`:                            errByRights,
		`an instance cannot be tried in namespace "ns": Forbidden`:          errByPolicy,
		`an instance cannot be tried in namespace "ns": no reason is known`: errors.New("hunter2"),
		`the API server cannot call the webhook, so nothing can be ordered: ` + `"mutate.x": failed to call webhook: Post "https://h": dial tcp: connection refused`: errUnreachable,
	} {
		assert.Equal(t, want, quiet.judgeCompleted(nil, err).Message)
	}
	assert.Equal(t, `an instance cannot be tried in namespace "ns": Invalid`, quiet.judgeRefused(errBySchema).Message)
}

func TestJudgeDryRuns(t *testing.T) {
	t.Parallel()
	complete := &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Finalizers: []string{v1beta1.FinalizerServiceCatalog}}, Spec: v1beta1.ServiceInstanceSpec{ExternalID: "id"}}
	const hooks = "see to the hooks: " + applyHooks
	cases := map[string]struct {
		reason string
		answer *v1beta1.ServiceInstance
		err    error
		want   finding
	}{
		"Completed": {reason: "the hooks did it", answer: complete, want: okf("admission", `a new instance gets its external ID and finalizer (dry run in namespace "ns")`)},
		"NotCalled": {
			reason: "no hook did", answer: &v1beta1.ServiceInstance{},
			want: failedf("admission", hooks, "the hooks are not called: an instance was admitted without an external ID and its finalizer (dry run)"),
		},
		"HalfDone": {
			reason: "some other hook", answer: &v1beta1.ServiceInstance{Spec: v1beta1.ServiceInstanceSpec{ExternalID: "id"}},
			want: failedf("admission", hooks, "the hooks are not called: an instance was admitted without its finalizer (dry run)"),
		},
		"Unreachable": {
			reason: "the API server says why", err: errUnreachable,
			want: failedf("admission", "look at the webhook's pods: kubectl -n elsewhere get pods",
				`the API server cannot call the webhook, so nothing can be ordered: "mutate.x": failed to call webhook: Post "https://h": dial tcp: connection refused`),
		},
		"Untrusted": {
			reason: "a certificate is another matter", err: errUntrusted,
			want: failedf("certificates", renew, `the API server does not trust the webhook: "mutate.x": failed to call webhook: Post "https://h": tls: failed to verify certificate: x509: certificate has expired`),
		},
		"NoRights": {
			reason: "that is about who asks", err: errByRights,
			want: unknownf("admission", "name a namespace in which you may create instances: svcat check --namespace", `not tried in namespace "ns": serviceinstances is forbidden: user "jane" cannot create`),
		},
		"NoNamespace": {reason: "so is that", err: errNoNamespace, want: unknownf("admission", "name a namespace that there is: svcat check --namespace", `not tried: there is no namespace "ns"`)},
		"Denied": {
			reason: "the hooks refuse what they should complete", err: errByPolicy,
			want: failedf("admission", "", `an instance cannot be tried in namespace "ns": admission webhook "validate.x" denied the request: policy`),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, tried.judgeCompleted(tc.answer, tc.err), tc.reason)
		})
	}
}

func TestJudgeRefused(t *testing.T) {
	t.Parallel()
	assert.Equal(t, okf("admission", `an instance that names nothing is refused (dry run in namespace "ns")`), tried.judgeRefused(fmt.Errorf("x: %w", errByWebhook)))
	assert.Equal(t, "an instance that names nothing was admitted (dry run)", tried.judgeRefused(nil).Message)
	assert.Equal(t, levelFailed, tried.judgeRefused(errBySchema).Level, "a schema's refusal says nothing about the hooks")
	assert.Equal(t, levelFailed, tried.judgeRefused(errUnreachable).Level)
}
