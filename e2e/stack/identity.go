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

	"github.com/defaultplan/defaultplan/e2e/stack/apiproxy"
)

// lifetime is that of tokens and certificates: longer than a playground runs.
const lifetime = 365 * 24 * time.Hour

// RESTConfigFor is how the named user connects, with no more rights than RBAC
// gives: by impersonation, which admission and audit see as the user's own
// request.
func (s *Stack) RESTConfigFor(user string, groups ...string) *rest.Config {
	config := rest.CopyConfig(s.config)
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: groups}
	return config
}

// KubeconfigFor writes a kubeconfig of the named user and returns its path. A
// ServiceAccount (system:serviceaccount:NAMESPACE:NAME) gets a token of its own;
// any other user is impersonated.
func (s *Stack) KubeconfigFor(ctx context.Context, user string) (string, error) {
	info := &clientcmdapi.AuthInfo{
		ClientCertificateData: s.config.CertData, ClientKeyData: s.config.KeyData,
		Impersonate: user,
	}
	if account, ok := strings.CutPrefix(user, "system:serviceaccount:"); ok {
		token, err := s.Token(ctx, account)
		if err != nil {
			return "", err
		}
		info = &clientcmdapi.AuthInfo{Token: token}
	}
	config := clientcmdapi.NewConfig()
	config.Clusters["stack"] = &clientcmdapi.Cluster{Server: s.config.Host, CertificateAuthorityData: s.config.CAData}
	config.AuthInfos[user] = info
	config.Contexts["stack"] = &clientcmdapi.Context{Cluster: "stack", AuthInfo: user}
	config.CurrentContext = "stack"
	content, err := clientcmd.Write(*config)
	if err != nil {
		return "", fmt.Errorf("cannot encode kubeconfig of %q: %w", user, err)
	}
	return s.writeKubeconfig(strings.NewReplacer(":", "-", "/", "-").Replace(user), content)
}

func (s *Stack) writeKubeconfig(name string, content []byte) (string, error) {
	file, err := s.kubeconfigFile(name)
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(file, content, 0o600); err != nil {
		return "", fmt.Errorf("cannot write kubeconfig: %w", err)
	}
	return file, nil
}

// kubeconfigFile is the path of a kubeconfig, in a folder that is there.
func (s *Stack) kubeconfigFile(name string) (string, error) {
	file := s.options.path("kubeconfigs", name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return "", fmt.Errorf("cannot make folder for kubeconfigs: %w", err)
	}
	return file, nil
}

// StartAPIProxy starts a proxy for the user of a kubeconfig; name is that of its own.
func (s *Stack) StartAPIProxy(ctx context.Context, name, kubeconfig string) (*apiproxy.Proxy, error) {
	file, err := s.kubeconfigFile(name)
	if err != nil {
		return nil, err
	}
	return apiproxy.Start(ctx, kubeconfig, file)
}

// Token asks for a token of the ServiceAccount NAMESPACE:NAME.
func (s *Stack) Token(ctx context.Context, account string) (string, error) {
	namespace, name, ok := strings.Cut(account, ":")
	if !ok {
		return "", fmt.Errorf("cannot make a token for %q: a ServiceAccount is system:serviceaccount:NAMESPACE:NAME", account)
	}
	holder := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	request := &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(lifetime.Seconds()))},
	}
	if err := s.client.SubResource("token").Create(ctx, holder, request); err != nil {
		return "", fmt.Errorf("cannot make a token for ServiceAccount %q: %w", namespace+"/"+name, err)
	}
	return request.Status.Token, nil
}
