package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

const (
	// templatesFolder and filesFolder hold nothing that is not generated.
	templatesFolder = "templates/generated"
	filesFolder     = "files"
)

// conditions say which values of the chart a manifest is for, by its path or the
// beginning of it; what is not named is always installed.
var conditions = []struct{ path, when string }{
	{"crds/", `.Values.crds.install`},
	{"rbac/aggregated_roles", `.Values.rbac.aggregatedRoles`},
	{"rbac/service_account", `.Values.webhook.serviceAccount.create`},
	{"rbac/keeper_service_account", `.Values.keeper.serviceAccount.create`},
	{"rbac/controller_service_account", `.Values.controller.serviceAccount.create`},
	{"rbac/controller_role_binding", `not .Values.controller.namespaces`},
	{"endpoints/", `.Values.controller.endpoints.enabled`},
	{"endpoints/role_binding", `and .Values.controller.endpoints.enabled (not .Values.controller.namespaces)`},
	{"rbac/metrics_", `.Values.metrics.secure`},
	{"vap/undecided", `and .Values.policies.undecided (eq .Values.webhook.unresolved "reject")`},
	{"vap/unrecorded", `.Values.policies.unrecorded`},
	{"vap/secrets", `.Values.policies.secrets`},
	{"vap/configmaps", `.Values.policies.configmaps`},
	{"vap/services", `.Values.policies.services`},
	{"vap/endpointslices", `.Values.policies.endpointslices`},
	{"vap/instances", `.Values.policies.instances`},
	{"vap/definitions", `.Values.policies.definitions`},
	{"vap/hookconfigurations", `.Values.policies.hookconfigurations`},
	{"vap/brokers", `.Values.policies.brokers`},
	{"vap/offerings", `.Values.policies.offerings`},
	{"vap/kubesystem", `.Values.policies.kubesystem`},
	{"vap/leases", `.Values.policies.leases`},
	{"vap/requeues", `.Values.policies.requeues`},
	{"vap/finalizers", `.Values.policies.finalizers`},
	{"vap/deletion", `.Values.policies.deletion`},
	{"flow/", `.Values.flow.enabled`},
	{"certs/managed/", `include "defaultplan.certs.managed" .`},
	{"certs/switch/", `include "defaultplan.certs.switch" .`},
	{"certs/cert-manager/", `include "defaultplan.certs.certManager" .`},
}

// chart is the generated templates: path, from the chart's folder, to content.
// The workload's templates are written by hand, because values reach into all of it.
func chart(sources []source) map[string]string {
	files := map[string]string{}
	for _, source := range sources {
		if source.folder == "workload" || isNamespace(source) {
			continue
		}
		path := filepath.Join(source.folder, source.name)
		name := strings.ReplaceAll(path, "/", "-") + ".yaml"
		files[filepath.Join(templatesFolder, name)] = template(source, path)
	}
	return files
}

// template is a manifest as a template of the chart.
func template(s source, path string) string {
	var out strings.Builder
	fmt.Fprintf(&out, "{{- /* Made by make generate from deploy/%s.yaml: edit that. */ -}}\n", path)
	when := ""
	for _, condition := range conditions {
		if strings.HasPrefix(path, condition.path) {
			when = condition.when
		}
	}
	if when != "" {
		fmt.Fprintf(&out, "{{- if %s }}\n", when)
	}
	for _, document := range s.documents {
		out.WriteString(templateOf(s.folder, document))
	}
	if when != "" {
		out.WriteString("{{- end }}\n")
	}
	return out.String()
}

// templateOf is one object as a template.
func templateOf(folder, document string) string {
	document = strings.ReplaceAll(document, "{{", `{{ "{{" }}`)
	document = inNamespace(withAccounts(document))
	document = within(document, "labels", "    {{- include \"defaultplan.labels\" . | nindent 4 }}\n", labelsLine)
	switch folder {
	case "crds":
		document = within(document, "annotations",
			"    {{- if .Values.crds.keep }}\n    helm.sh/resource-policy: keep\n"+neverPruned+"    {{- end }}\n", annotationsLine)
	case "hooks":
		document = metadataLine.ReplaceAllString(document, "metadata:\n"+
			"  {{- with include \"defaultplan.certs.injectFrom\" . }}\n"+
			"  annotations:\n"+
			"    cert-manager.io/inject-ca-from: {{ . }}\n"+
			"  {{- end }}\n")
	case "certs/cert-manager":
		return certificate(document)
	}
	return "---\n" + document
}

// valueOfNamespace finds the namespace where it is a whole value, or one of a list:
// there it is quoted, because a namespace may be called 42.
var valueOfNamespace = regexp.MustCompile(`(?m)(: |- |\[|, )` + namespace + `($|[],])`)

// inNamespace has a template name the release's namespace.
func inNamespace(document string) string {
	document = valueOfNamespace.ReplaceAllString(document, `$1{{ .Release.Namespace | quote }}$2`)
	return strings.ReplaceAll(document, namespace, "{{ .Release.Namespace }}")
}

// issuer finds who issues a certificate.
var issuer = regexp.MustCompile(`(?m)^  issuerRef:\n((?:    .*\n)+)`)

// certificate is an object of cert-manager as a template: an issuer of the cluster's
// own takes the place of the chain that the chart makes.
func certificate(document string) string {
	if strings.Contains(document, "\nkind: Certificate\n") && strings.Contains(document, "\n  name: defaultplan-webhook\n") {
		return "---\n" + issuer.ReplaceAllString(document, "  issuerRef:\n"+
			"    {{- with .Values.certs.certManager.issuerRef }}\n"+
			"    {{- toYaml . | nindent 4 }}\n"+
			"    {{- else }}\n"+
			"$1"+
			"    {{- end }}\n")
	}
	return "{{- if not .Values.certs.certManager.issuerRef }}\n---\n" + document + "{{- end }}\n"
}

// monitoring is what the chart carries of deploy/monitoring as it is, for objects
// that hold it: the dashboard, and the rules, which no template may read as one.
func monitoring(from string) (map[string]string, error) {
	files := map[string]string{}
	for _, name := range []string{"dashboard.json", "rules.yaml"} {
		content, err := os.ReadFile(filepath.Join(from, "monitoring", name))
		if err != nil {
			return nil, fmt.Errorf("cannot read for the chart: %w", err)
		}
		files[filepath.Join(filesFolder, name)] = string(content)
	}
	return files, nil
}
