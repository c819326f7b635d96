package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

const (
	// tokenFolder is where a container has its ServiceAccount's token.
	tokenFolder = "/var/run/secrets/kubernetes.io/serviceaccount" //nolint:gosec // a path
	// rootCAConfigMap is the one that admission has every pod mount beside the token.
	rootCAConfigMap = "kube-root-ca.crt"
	kubeconfigFile  = "kubeconfig"
)

// A token is one of the pod's ServiceAccount, bound to the pod: it is worth nothing
// when the pod is gone.
type token struct {
	content []byte
	version string
	// renew is when a kubelet asks for the next one.
	renew time.Time
}

// tokenFiles is the token as a volume has it, a new one when the old one's time has
// mostly passed; the kubeconfig leads to it.
func (p *pod) tokenFiles(ctx context.Context, source *corev1.ServiceAccountTokenProjection) (map[string][]byte, string, error) {
	if t := p.token; t != nil && time.Now().Before(t.renew) {
		return map[string][]byte{source.Path: t.content}, t.version, nil
	}
	if source.ExpirationSeconds == nil {
		return nil, "", errors.New("the token's life is not given")
	}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		ExpirationSeconds: source.ExpirationSeconds,
		BoundObjectRef:    &authenticationv1.BoundObjectReference{Kind: "Pod", APIVersion: "v1", Name: p.object.Name, UID: p.uid},
	}}
	if source.Audience != "" {
		request.Spec.Audiences = []string{source.Audience}
	}
	accounts := p.node.client.CoreV1().ServiceAccounts(p.object.Namespace)
	granted, err := accounts.CreateToken(ctx, p.object.Spec.ServiceAccountName, request, metav1.CreateOptions{})
	if err != nil {
		return nil, "", err
	}
	life := time.Duration(*source.ExpirationSeconds) * time.Second
	now := time.Now()
	p.token = &token{content: []byte(granted.Status.Token), version: now.String(), renew: now.Add(life * 8 / 10)}
	return map[string][]byte{source.Path: p.token.content}, p.token.version, p.writeKubeconfig(source.Path)
}

// writeKubeconfig writes the file that stands for a pod's address of the API server and
// its token there. It holds no token, but says where it is.
func (p *pod) writeKubeconfig(tokenPath string) error {
	var file string
	for _, c := range p.containers {
		if folder, mounted := c.here(tokenFolder); mounted {
			file = folder + "/" + tokenPath
		}
	}
	if file == "" {
		return nil // no container has it
	}
	server := p.node.stack.RESTConfig()
	config := clientcmdapi.NewConfig()
	config.Clusters["cluster"] = &clientcmdapi.Cluster{Server: server.Host, CertificateAuthorityData: server.CAData}
	config.AuthInfos["pod"] = &clientcmdapi.AuthInfo{TokenFile: file}
	config.Contexts["pod"] = &clientcmdapi.Context{Cluster: "cluster", AuthInfo: "pod", Namespace: p.object.Namespace}
	config.CurrentContext = "pod"
	content, err := clientcmd.Write(*config)
	if err != nil {
		return fmt.Errorf("cannot encode kubeconfig: %w", err)
	}
	if err := os.WriteFile(p.path(kubeconfigFile), content, 0o600); err != nil {
		return fmt.Errorf("cannot write kubeconfig: %w", err)
	}
	return nil
}
