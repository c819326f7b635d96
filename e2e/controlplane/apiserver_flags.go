package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/defaultplan/defaultplan/e2e/controlplane/folder"
	"github.com/defaultplan/defaultplan/e2e/controlplane/pki"
	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	kubeoptions "k8s.io/kubernetes/cmd/kube-apiserver/app/options"
)

// serviceRange is where Services get addresses from; nothing routes to them.
const serviceRange = "10.0.0.0/24"

// auditPolicy logs who did what to our group and what admission had to say about it, but no contents.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  resources:
  - group: servicecatalog.k8s.io
- level: None
`

// newAPIServer launches the API server of the session's folder against the etcd at etcdURL.
func (s *session) newAPIServer(etcdURL string) (*apiServer, error) {
	if err := pki.Ensure(s.home.Path("pki"), time.Now()); err != nil {
		return nil, err
	}
	access, err := s.access()
	if err != nil {
		return nil, err
	}
	port, err := s.home.Port(folder.APIServer, s.port)
	if err != nil {
		return nil, err
	}
	args, err := s.apiServerArgs(etcdURL, port)
	if err != nil {
		return nil, err
	}
	address := loopback("https", port)
	listener, err := net.Listen("tcp", address.Host)
	if err != nil {
		return nil, fmt.Errorf("cannot use port %d: %w", port, err)
	}
	server, err := launchAPIServer(args, listener, s.logs)
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	access.Server = address.String()
	server.access = access
	return server, nil
}

// access is the administrator's; the server's address is not known yet.
func (s *session) access() (folder.Access, error) {
	a := folder.Access{}
	for _, part := range []struct {
		name    string
		content *[]byte
	}{{pki.CACert, &a.CA}, {pki.AdminCert, &a.Cert}, {pki.AdminKey, &a.Key}} {
		content, err := os.ReadFile(s.home.Path("pki", part.name))
		if err != nil {
			return folder.Access{}, fmt.Errorf("cannot read certificate %q: %w", part.name, err)
		}
		*part.content = content
	}
	return a, nil
}

// apiServerArgs are kube-apiserver's flags; the user's come last and win.
func (s *session) apiServerArgs(etcdURL string, port int) ([]string, error) {
	file := func(name string) string { return s.home.Path("pki", name) }
	args := []string{
		"--etcd-servers=" + etcdURL,
		"--secure-port=" + strconv.Itoa(port),
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		"--tls-cert-file=" + file(pki.ServerCert),
		"--tls-private-key-file=" + file(pki.ServerKey),
		"--client-ca-file=" + file(pki.CACert),
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-signing-key-file=" + file(pki.ServiceAccountKey),
		"--service-account-key-file=" + file(pki.ServiceAccountKey),
		"--authorization-mode=RBAC",
		"--service-cluster-ip-range=" + serviceRange,
		// No client connects to the kubernetes Service, and it may not have a
		// loopback address.
		"--endpoint-reconciler-type=none",
		// Otherwise open watches delay the server's shutdown by a minute.
		"--shutdown-watch-termination-grace-period=100ms",
		"--profiling=false",
		"--v=" + strconv.Itoa(s.verbosity),
	}
	if s.audit {
		audit, err := s.auditArgs()
		if err != nil {
			return nil, err
		}
		args = append(args, audit...)
	}
	return append(args, s.extra...), nil
}

// auditArgs make kube-apiserver write the audit log. It writes a line when it has the answer, not always
// before the client has it: who reads the log waits for the line.
func (s *session) auditArgs() ([]string, error) {
	policy := s.home.Path("audit-policy.yaml")
	if err := folder.WriteFile(policy, []byte(auditPolicy)); err != nil {
		return nil, err
	}
	return []string{
		"--audit-policy-file=" + policy,
		"--audit-log-path=" + s.home.Path("audit.log"),
	}, nil
}

func parseAPIServerFlags(o *kubeoptions.ServerRunOptions, args []string) error {
	flags := pflag.NewFlagSet("kube-apiserver", pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	for _, set := range o.Flags().FlagSets {
		flags.AddFlagSet(set)
	}
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("cannot read kube-apiserver flags: %w", err)
	}
	return nil
}

// clientConfig is an administrator's client of the server.
func (a *apiServer) clientConfig() *rest.Config {
	return &rest.Config{
		Host:            a.access.Server,
		TLSClientConfig: rest.TLSClientConfig{CAData: a.access.CA, CertData: a.access.Cert, KeyData: a.access.Key},
		// The machine is ours alone: waiting in the client would only make a start slower.
		QPS: -1,
	}
}
