package stack

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/e2e/stack/apiproxy"
)

// lifetime is that of tokens and certificates: longer than a playground runs.
const lifetime = 365 * 24 * time.Hour

// Access is how the administrator and others reach the API server.
type Access struct {
	options *Options
	config  *rest.Config
	client  client.WithWatch
}

// connect makes the administrator's client.
func (a *Access) connect(kubeconfig string) error {
	content, err := os.ReadFile(kubeconfig)
	if err != nil {
		return fmt.Errorf("cannot read kubeconfig: %w", err)
	}
	if err := os.WriteFile(a.Kubeconfig(), content, 0o600); err != nil { //nolint:gosec // the folder is the caller's own choice
		return fmt.Errorf("cannot write kubeconfig: %w", err)
	}
	a.config, err = clientcmd.RESTConfigFromKubeConfig(content)
	if err != nil {
		return fmt.Errorf("cannot use kubeconfig %q: %w", kubeconfig, err)
	}
	a.config.QPS = -1 // a local API server needs no sparing
	scheme, err := Scheme()
	if err != nil {
		return err
	}
	a.client, err = client.NewWithWatch(a.config, client.Options{Scheme: scheme})
	if err != nil {
		return fmt.Errorf("cannot make a client: %w", err)
	}
	return nil
}

// Kubeconfig is the administrator's.
func (a *Access) Kubeconfig() string { return a.options.path("kubeconfig") }

// Client acts as the administrator; it reads from the API server, not from a
// cache.
func (a *Access) Client() client.WithWatch { return a.client }

// RESTConfig is how the administrator connects; it is a copy.
func (a *Access) RESTConfig() *rest.Config { return rest.CopyConfig(a.config) }

// RESTConfigFor is how the named user connects, with no more rights than RBAC
// gives: by impersonation, which admission and audit see as the user's own
// request.
func (a *Access) RESTConfigFor(user string, groups ...string) *rest.Config {
	config := rest.CopyConfig(a.config)
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: groups}
	return config
}

// KubeconfigFor writes a kubeconfig of the named user and returns its path. A
// ServiceAccount (system:serviceaccount:NAMESPACE:NAME) gets a token of its own;
// any other user is impersonated.
func (a *Access) KubeconfigFor(ctx context.Context, user string) (string, error) {
	info := &clientcmdapi.AuthInfo{
		ClientCertificateData: a.config.CertData, ClientKeyData: a.config.KeyData,
		Impersonate: user,
	}
	if account, ok := strings.CutPrefix(user, "system:serviceaccount:"); ok {
		token, err := a.Token(ctx, account)
		if err != nil {
			return "", err
		}
		info = &clientcmdapi.AuthInfo{Token: token}
	}
	config := clientcmdapi.NewConfig()
	config.Clusters["stack"] = &clientcmdapi.Cluster{Server: a.config.Host, CertificateAuthorityData: a.config.CAData}
	config.AuthInfos[user] = info
	config.Contexts["stack"] = &clientcmdapi.Context{Cluster: "stack", AuthInfo: user}
	config.CurrentContext = "stack"
	content, err := clientcmd.Write(*config)
	if err != nil {
		return "", fmt.Errorf("cannot encode kubeconfig of %q: %w", user, err)
	}
	return a.writeKubeconfig(strings.NewReplacer(":", "-", "/", "-").Replace(user), content)
}

func (a *Access) writeKubeconfig(name string, content []byte) (string, error) {
	file, err := a.kubeconfigFile(name)
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(file, content, 0o600); err != nil {
		return "", fmt.Errorf("cannot write kubeconfig: %w", err)
	}
	return file, nil
}

// kubeconfigFile is the path of a kubeconfig, in a folder that is there.
func (a *Access) kubeconfigFile(name string) (string, error) {
	file := a.options.path("kubeconfigs", name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return "", fmt.Errorf("cannot make folder for kubeconfigs: %w", err)
	}
	return file, nil
}

// StartAPIProxy starts a proxy for the user of a kubeconfig; name is that of its own.
func (a *Access) StartAPIProxy(ctx context.Context, name, kubeconfig string) (*apiproxy.Proxy, error) {
	file, err := a.kubeconfigFile(name)
	if err != nil {
		return nil, err
	}
	return apiproxy.Start(ctx, kubeconfig, file)
}

// Token asks for a token of the ServiceAccount NAMESPACE:NAME.
func (a *Access) Token(ctx context.Context, account string) (string, error) {
	namespace, name, ok := strings.Cut(account, ":")
	if !ok {
		return "", fmt.Errorf("cannot make a token for %q: a ServiceAccount is system:serviceaccount:NAMESPACE:NAME", account)
	}
	holder := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	request := &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(lifetime.Seconds()))},
	}
	if err := a.client.SubResource("token").Create(ctx, holder, request); err != nil {
		return "", fmt.Errorf("cannot make a token for ServiceAccount %q: %w", namespace+"/"+name, err)
	}
	return request.Status.Token, nil
}
