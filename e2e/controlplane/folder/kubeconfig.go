package folder

import (
	"fmt"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// contextName names cluster, user and context of the kubeconfig.
const contextName = "controlplane"

// An Access is what a client needs to reach a server as a user: an https URL,
// and PEM-encoded the CA of its certificate and the client's own certificate
// and key.
type Access struct {
	Server        string
	CA, Cert, Key []byte
}

// KubeconfigPath is where the folder's kubeconfig is.
func (f *Folder) KubeconfigPath() string { return f.Path(kubeconfigFile) }

// WriteKubeconfig writes the folder's kubeconfig, certificates embedded.
func (f *Folder) WriteKubeconfig(a Access) error {
	config := clientcmdapi.NewConfig()
	config.Clusters[contextName] = &clientcmdapi.Cluster{Server: a.Server, CertificateAuthorityData: a.CA}
	config.AuthInfos[contextName] = &clientcmdapi.AuthInfo{ClientCertificateData: a.Cert, ClientKeyData: a.Key}
	config.Contexts[contextName] = &clientcmdapi.Context{Cluster: contextName, AuthInfo: contextName}
	config.CurrentContext = contextName
	content, err := clientcmd.Write(*config)
	if err != nil {
		return fmt.Errorf("cannot encode kubeconfig: %w", err)
	}
	return WriteFile(f.KubeconfigPath(), content)
}
