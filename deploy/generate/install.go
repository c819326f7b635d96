package main

import (
	"slices"
	"strings"
)

const installHeader = `# defaultplan %VERSION%, all of it, for kubectl apply --server-side -f install.yaml
# Made by make generate from the other files of this folder; it is what
# overlays/self-managed renders. docs/install.md says what each object is for. Nodes must be able
# to pull its images: docs/image.md builds and pushes them, by one command.
`

// neverPruned are the annotations by which Flux and Argo CD leave an object that they
// find in no manifest any more; crds/Kustomization and rbac/namespace.yaml have them too.
const neverPruned = "    kustomize.toolkit.fluxcd.io/prune: disabled\n    argocd.argoproj.io/sync-options: Prune=false,Delete=false\n"

// optional are the folders of what is not installed by default.
var optional = []string{"endpoints", "certs/switch", "certs/cert-manager"}

// install is every object of an installation that keeps its own certificates.
func install(sources []source, version string) string {
	labels := "    app.kubernetes.io/name: defaultplan\n    app.kubernetes.io/part-of: defaultplan\n    app.kubernetes.io/version: " + version + "\n"
	var first, rest strings.Builder
	for _, source := range sources {
		if slices.Contains(optional, source.folder) {
			continue
		}
		to := &rest
		if isNamespace(source) {
			to = &first
		}
		for _, document := range source.documents {
			if source.folder == "crds" {
				document = within(document, "annotations", neverPruned, annotationsLine)
			}
			to.WriteString("---\n" + within(document, "labels", labels, labelsLine))
		}
	}
	return strings.ReplaceAll(installHeader, "%VERSION%", version) + first.String() + rest.String()
}

// isNamespace says whether the source is the namespace, which all others need and
// which Helm makes by itself.
func isNamespace(s source) bool { return s.folder == "rbac" && s.name == "namespace" }
