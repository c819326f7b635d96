package remedy_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/remedy"
)

// dev is a cluster that a flag named.
var dev = cli.Cluster{Server: "https://h:6443/base", Context: "dev", User: "eve", File: " --kubeconfig=k", Flags: " --kubeconfig=k --context=dev"}

// broken is a request that failed.
func broken(err error) error {
	return &url.Error{Op: "Get", URL: "https://h:6443/base/apis/x", Err: err}
}

// unserved is how client-go reports a resource that an API server does not have.
func unserved(resource schema.GroupResource, name string) error {
	return apierrors.NewGenericServerResponse(http.StatusNotFound, "get", resource, name, "404 page not found", 0, true)
}

// The ends of messages.
const (
	other = "\n  → for another cluster: --context NAME, one of kubectl config get-contexts --kubeconfig=k"
	view  = "kubectl config view --minify --kubeconfig=k --context=dev"
)

func TestMessage(t *testing.T) {
	t.Parallel()
	const (
		refused = `the API server https://h:6443/base of context "dev" refuses the connection: connection refused`
		alive   = "\n  → check that the cluster runs, and that this is its address: " + view + other
		absent  = `defaultplan is not installed in the cluster of context "dev": the API server https://h:6443/base does not serve `
		install = "\n  → a cluster administrator installs it: kubectl apply --server-side --kubeconfig=k --context=dev -f deploy/install.yaml (docs/install.md has other ways); then: svcat check" + other
	)
	instances := v1beta1.GroupVersion.WithResource("serviceinstances")
	for name, tc := range map[string]struct {
		reason string
		at     cli.Cluster
		err    error
		want   string
	}{
		"Own":     {"it is a sentence, with a way out of its own", dev, errors.New("no plan\n  → choose one"), "error: no plan\n  → choose one"},
		"Usage":   {"nothing was asked", dev, cli.Usagef("--x is %q", "y"), `error: --x is "y"`},
		"Refused": {"said alone", dev, broken(syscall.ECONNREFUSED), "error: " + refused + alive},
		"Failure": {"however it ends", dev, &cli.Failure{Code: cli.ExitTimeout, Err: broken(syscall.ECONNREFUSED)}, "error: " + refused + alive},
		"Joined": {
			"once for all", dev, errors.Join(fmt.Errorf("cannot list a: %w", broken(syscall.ECONNREFUSED)), fmt.Errorf("cannot list b: %w", broken(syscall.ECONNREFUSED)), errors.New("c")),
			"error: cannot list a: " + refused + "\nerror: cannot list b: " + refused + "\nerror: c" + alive,
		},
		"Mapped": {
			"one mapper does not know the kind, and the other cannot ask", dev,
			fmt.Errorf("cannot get namespace: %w", utilerrors.NewAggregate([]error{&meta.NoKindMatchError{GroupKind: schema.GroupKind{Kind: "Namespace"}}, fmt.Errorf("failed to get server groups: %w", broken(syscall.ECONNREFUSED))})),
			"error: cannot get namespace: " + refused + alive,
		},
		"NoContext": {"in a pod", cli.Cluster{}, broken(syscall.ECONNREFUSED), "error: the API server https://h:6443 refuses the connection: connection refused\n" +
			"  → check that the cluster runs, and that this is its address: kubectl config view --minify\n  → for another cluster: --context NAME, one of kubectl config get-contexts"},
		"CutOff":       {"any other", dev, broken(io.ErrUnexpectedEOF), `error: the API server https://h:6443/base of context "dev" cannot be reached: unexpected EOF` + alive},
		"Deadline":     {"it was waited for", dev, broken(context.DeadlineExceeded), `error: the API server https://h:6443/base of context "dev" does not answer: context deadline exceeded` + "\n  → check that the cluster runs, and that no firewall is in between; its address: " + view + other},
		"Interrupted":  {"Ctrl-C", dev, fmt.Errorf("cannot list: %w", broken(context.Canceled)), "error: interrupted"},
		"OtherHost":    {"not the API server's", dev, &url.Error{Op: "Get", URL: "https://broker/v2", Err: syscall.ECONNREFUSED}, `error: Get "https://broker/v2": connection refused`},
		"Expired":      {"the server's certificate", dev, broken(&tls.CertificateVerificationError{Err: x509.CertificateInvalidError{Reason: x509.Expired, Detail: "late"}}), `error: the API server https://h:6443/base of context "dev" has a certificate that is not trusted: tls: failed to verify certificate: x509: certificate has expired or is not yet valid: late` + "\n  → check this machine's clock, and have the API server's certificate renewed" + other},
		"ClientRefuse": {"the client's certificate", dev, broken(tls.AlertError(42)), `error: the API server https://h:6443/base of context "dev" refuses the TLS connection: tls: bad certificate` + "\n  → check the client certificate of the context's user, which may have expired: " + view + other},
		"Plugin":       {"no credentials", dev, broken(errors.New("getting credentials: exec: executable aws not found")), `error: the credentials for the API server https://h:6443/base of context "dev" cannot be got: getting credentials: exec: executable aws not found` + "\n  → run the command that gives them, which the kubeconfig names, or log in again: " + view + other},
		"Password":     {"of a proxy", dev, broken(errors.New(`invalid proxy address "http://eve:pass@bad host"`)), `error: the API server https://h:6443/base of context "dev" cannot be reached: invalid proxy address "http://bad host"` + alive},
		"Unauthorized": {"as kubectl says it", dev, fmt.Errorf("cannot list: %w", apierrors.NewUnauthorized("who are you")), "error: cannot list: Error from server (Unauthorized): who are you\n  → the credentials of user \"eve\" of context \"dev\" are wrong or expired: log in again, or see what they are: " + view},
		"UnknownUser":  {"in a pod", cli.Cluster{}, apierrors.NewUnauthorized("x"), "Error from server (Unauthorized): x\n  → the credentials of the request are wrong or expired: log in again, or see what they are: kubectl config view --minify"},
		"NotInstalled": {"what is missing", dev, fmt.Errorf("cannot list: %w", unserved(instances.GroupResource(), "")), "error: cannot list: " + absent + "serviceinstances.servicecatalog.k8s.io" + install},
		"NoKind":       {"discovery's words", dev, &meta.NoKindMatchError{GroupKind: v1beta1.Kind("ServiceInstance")}, "error: " + absent + "ServiceInstance.servicecatalog.k8s.io" + install},
		"NoResource":   {"discovery's words", dev, &meta.NoResourceMatchError{PartialResource: instances}, "error: " + absent + "serviceinstances.servicecatalog.k8s.io" + install},
		"NoOtherKind":  {"not ours", dev, &meta.NoKindMatchError{GroupKind: schema.GroupKind{Kind: "X"}}, `error: no matches for kind "X" in group ""`},
		"NoObject":     {"it is only not there", dev, apierrors.NewNotFound(instances.GroupResource(), "db"), `Error from server (NotFound): serviceinstances.servicecatalog.k8s.io "db" not found`},
		"OtherGroup":   {"of another API", dev, unserved(schema.GroupResource{Group: "apps", Resource: "x"}, ""), "Error from server (NotFound): the server could not find the requested resource (get x.apps)"},
		"NoRole":       {"no role of ours", dev, apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "", errors.New(`User "eve" cannot get resource "secrets" in API group "" in the namespace "dev"`)), `Error from server (Forbidden): secrets is forbidden: User "eve" cannot get resource "secrets" in API group "" in the namespace "dev"` + "\n  → ask an administrator: none of the roles of defaultplan lets you get secrets in namespace dev"},
		"Denied":       {"admission has its own way out", dev, apierrors.NewForbidden(instances.GroupResource(), "db", errors.New("policy x denies it\n  → choose another")), `Error from server (Forbidden): serviceinstances.servicecatalog.k8s.io "db" is forbidden: policy x denies it` + "\n  → choose another"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, remedy.Message(tc.at, tc.err), tc.reason)
		})
	}
}

// TestOf: the same within a sentence.
func TestOf(t *testing.T) {
	t.Parallel()
	text, do := remedy.Of(dev, broken(syscall.ECONNREFUSED))
	assert.Equal(t, `the API server https://h:6443/base of context "dev" refuses the connection: connection refused`, text)
	assert.Len(t, do, 2)
	text, do = remedy.Of(dev, errors.New("x"))
	assert.Equal(t, "x", text)
	assert.Empty(t, do)
}

// TestIsNotInstalled: an object that is not there is another matter.
func TestIsNotInstalled(t *testing.T) {
	t.Parallel()
	instances := v1beta1.GroupVersion.WithResource("serviceinstances").GroupResource()
	assert.True(t, remedy.IsNotInstalled(fmt.Errorf("cannot get: %w", unserved(instances, "db"))))
	assert.False(t, remedy.IsNotInstalled(apierrors.NewNotFound(instances, "db")))
	caused := apierrors.NewNotFound(instances, "db")
	caused.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeFieldValueNotFound}}
	assert.False(t, remedy.IsNotInstalled(caused))
	assert.False(t, remedy.IsNotInstalled(errors.New("x")))
}
