// Package argocd holds what Argo CD is to know of the service catalog: health checks, in
// the layout of its own repository (GROUP/KIND/health.lua, with tests beside it), and
// argocd-cm.yaml, which has all of it for the ConfigMap of an Argo CD that exists.
//
// The Go code writes the ConfigMap; only tests use it. e2e/charts/health runs the checks as
// Argo CD does. docs/gitops.md describes how to configure them.
package argocd

import (
	"embed"
	"fmt"
	"io/fs"
	"path"

	"sigs.k8s.io/yaml"
)

// Checks are the health checks with their tests.
//
//go:embed servicecatalog.k8s.io
var Checks embed.FS

// ignored are the differences that are none, as jq expressions, by GROUP_KIND: the
// authorities that the webhook or cert-manager writes into the hooks, and the mark of a
// default, which the keeper moves.
var ignored = map[string][]string{
	"admissionregistration.k8s.io_MutatingWebhookConfiguration":   {".webhooks[]?.clientConfig.caBundle"},
	"admissionregistration.k8s.io_ValidatingWebhookConfiguration": {".webhooks[]?.clientConfig.caBundle"},
	"servicecatalog.k8s.io_ClusterServicePlan":                    {`.metadata.annotations["servicecatalog.kubernetes.io/is-default-plan"]`},
	"servicecatalog.k8s.io_ServicePlan":                           {`.metadata.annotations["servicecatalog.kubernetes.io/is-default-plan"]`},
}

const configMapHead = `# Generated from the health checks beside it: do not edit. To be merged into the ConfigMap
# of that name, as with kubectl patch configmap argocd-cm -n argocd --patch-file.
`

// ConfigMap is argocd-cm.yaml.
func ConfigMap() ([]byte, error) {
	data := map[string]string{}
	scripts, err := fs.Glob(Checks, "*/*/health.lua")
	if err != nil {
		return nil, fmt.Errorf("cannot find the health checks: %w", err)
	}
	for _, name := range scripts {
		script, err := Checks.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("cannot read %q: %w", name, err)
		}
		group, kind := path.Split(path.Dir(name))
		data["resource.customizations.health."+path.Clean(group)+"_"+kind] = string(script)
	}
	for kind, expressions := range ignored {
		text, err := yaml.Marshal(map[string]any{"jqPathExpressions": expressions})
		if err != nil {
			return nil, fmt.Errorf("cannot write what is ignored of %q: %w", kind, err)
		}
		data["resource.customizations.ignoreDifferences."+kind] = string(text)
	}
	text, err := yaml.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "argocd-cm", "namespace": "argocd"}, "data": data,
	})
	if err != nil {
		return nil, fmt.Errorf("cannot write the ConfigMap: %w", err)
	}
	return append([]byte(configMapHead), text...), nil
}
