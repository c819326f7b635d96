package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"
)

const (
	certificatesCheck = "certificates"
	renew             = "renew the webhook's certificate, and the caBundle of its hooks with it"
	// soon is when an administrator should look: what renews by itself does so earlier.
	soon = 14 * 24 * time.Hour
	day  = 24 * time.Hour
	// dialLimit bounds the look at a serving certificate.
	dialLimit = 3 * time.Second
)

// checkCertificates looks how long the hooks' authorities hold, and what is served where
// a hook is named by URL. A Service cannot be reached from outside the cluster.
func checkCertificates(ctx context.Context, hooks []hook, now time.Time) []finding {
	type source struct{ bundle, host string }
	looked := map[source]bool{}
	var findings []finding
	for i := range hooks {
		bundle := hooks[i].ClientConfig.CABundle
		at := source{string(bundle), hostOf(hooks[i].ClientConfig.URL)}
		if len(bundle) == 0 || looked[at] {
			continue
		}
		looked[at] = true
		findings = append(findings, judgeBundle(bundle, now))
		if at.host != "" {
			leaf, err := served(ctx, at.host, bundle)
			findings = append(findings, judgeServed(at.host, leaf, err, now))
		}
	}
	return findings
}

// hostOf is the host and port of a hook's URL, empty where it has none.
func hostOf(address *string) string {
	if address == nil {
		return ""
	}
	parsed, err := url.Parse(*address)
	if err != nil {
		return ""
	}
	if parsed.Port() == "" {
		return net.JoinHostPort(parsed.Hostname(), "443")
	}
	return parsed.Host
}

// judgeBundle says how long the authority of a caBundle holds that holds longest:
// while one is replaced by the next, both are in it.
func judgeBundle(bundle []byte, now time.Time) finding {
	var last time.Time
	for block, rest := pem.Decode(bundle); block != nil; block, rest = pem.Decode(rest) {
		if authority, err := x509.ParseCertificate(block.Bytes); err == nil && authority.NotAfter.After(last) {
			last = authority.NotAfter
		}
	}
	if last.IsZero() {
		return failedf(certificatesCheck, renew, "the hooks' caBundle holds no certificate")
	}
	return judgeEnd("the authority in the hooks' caBundle", last, now)
}

// served is the certificate that a host serves. The error is that of the network, or
// of a certificate that the bundle does not vouch for.
func served(ctx context.Context, host string, bundle []byte) (*x509.Certificate, error) {
	ctx, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(bundle)
	dialer := tls.Dialer{Config: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}
	conn, err := dialer.DialContext(ctx, "tcp", host)
	if err != nil {
		return nil, err
	}
	secured, _ := conn.(*tls.Conn)
	return secured.ConnectionState().PeerCertificates[0], conn.Close()
}

func judgeServed(host string, leaf *x509.Certificate, err error, now time.Time) finding {
	if untrusted, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return failedf(certificatesCheck, renew, "the API server does not trust the certificate of %s: %s", host, untrusted.Err)
	}
	if err != nil {
		return warningf(certificatesCheck, "look from where the API server is", "the certificate of %s was not looked at: %s", host, err)
	}
	return judgeEnd("the certificate of "+host, leaf.NotAfter, now)
}

// judgeEnd says how long a certificate holds.
func judgeEnd(what string, end, now time.Time) finding {
	left := end.Sub(now)
	switch {
	case left <= 0:
		return failedf(certificatesCheck, renew, "%s ended at %s", what, end.UTC().Format(time.RFC3339))
	case left < soon:
		return warningf(certificatesCheck, renew, "%s ends in %s", what, days(left))
	}
	return okf(certificatesCheck, "%s ends in %s", what, days(left))
}

func days(left time.Duration) string {
	switch n := int(left / day); n {
	case 0:
		return "less than a day"
	case 1:
		return "1 day"
	default:
		return fmt.Sprintf("%d days", n)
	}
}
