package remedy

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// unreached is why a request had no answer. An address that is not the API server's is not
// its affair.
func unreached(at cli.Cluster, err *url.Error) []fault {
	asked, unread := url.Parse(err.URL)
	if unread != nil || errors.Is(err, context.Canceled) {
		return nil
	}
	server := asked.Scheme + "://" + asked.Host
	if known, unread := url.Parse(at.Server); unread == nil && known.Host != "" && known.Host != asked.Host {
		return nil
	}
	kind := kindOf(err)
	said := strings.ReplaceAll(kind.says, "SERVER", "the API server "+cmp.Or(at.Server, server)+ofContext(at))
	return []fault{{
		found: err.Error(), says: said + ": " + cli.WithoutCredentials(err.Err.Error()),
		do: []string{strings.ReplaceAll(kind.do, "VIEW", "kubectl config view --minify"+at.Flags), another(at)},
	}}
}

// A kind of transport errors, in words: SERVER is the API server, and VIEW a command that
// shows the kubeconfig.
type kind struct {
	is       func(err *url.Error) bool
	says, do string
}

// kinds are the kinds of errors, the first that fits is the one.
var kinds = []kind{
	{isProxy, "the proxy to SERVER cannot be reached", "check proxy-url in the kubeconfig, HTTPS_PROXY and NO_PROXY: VIEW"},
	{isCredentials, "the credentials for SERVER cannot be got", "run the command that gives them, which the kubeconfig names, or log in again: VIEW"},
	{isA[*net.DNSError], "SERVER has a name that does not resolve", "check its name: VIEW; and that this machine is in the cluster's network"},
	{isA[x509.UnknownAuthorityError], untrusted, "check certificate-authority of the context's cluster, and whether a proxy is in between: VIEW"},
	{isA[x509.HostnameError], untrusted, "check that the address is one of those in its certificate, or name one with tls-server-name: VIEW"},
	{isA[*tls.CertificateVerificationError], untrusted, "check this machine's clock, and have the API server's certificate renewed"},
	{isA[tls.AlertError], "SERVER refuses the TLS connection", "check the client certificate of the context's user, which may have expired: VIEW"},
	{isPlain, "SERVER does not speak HTTPS", "check the scheme and the port of its address: VIEW"},
	{is(syscall.ECONNREFUSED), "SERVER refuses the connection", awake},
	{(*url.Error).Timeout, "SERVER does not answer", "check that the cluster runs, and that no firewall is in between; its address: VIEW"},
	{func(*url.Error) bool { return true }, "SERVER cannot be reached", awake},
}

const (
	untrusted = "SERVER has a certificate that is not trusted"
	awake     = "check that the cluster runs, and that this is its address: VIEW"
)

func kindOf(err *url.Error) kind {
	for _, k := range kinds {
		if k.is(err) {
			return k
		}
	}
	return kind{}
}

// isA says that an error wraps one of a type.
func isA[E error](err *url.Error) bool {
	_, is := errors.AsType[E](err)
	return is
}

// is says that an error wraps a certain one.
func is(target error) func(*url.Error) bool {
	return func(err *url.Error) bool { return errors.Is(err, target) }
}

// isPlain says that HTTP was answered to HTTPS.
func isPlain(err *url.Error) bool {
	return errors.Is(err, http.ErrSchemeMismatch) || isA[tls.RecordHeaderError](err)
}

func isProxy(err *url.Error) bool {
	broken, is := errors.AsType[*net.OpError](err)
	return is && broken.Op == "proxyconnect"
}

// isCredentials says that a plugin of client-go gave none: its error is a text.
func isCredentials(err *url.Error) bool {
	return strings.HasPrefix(err.Err.Error(), "getting credentials: ")
}
