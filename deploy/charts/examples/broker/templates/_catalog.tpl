{{- /*
broker.metadata is that of a class or plan. At the first install it is a hook, so that it is
there before the broker is. A hook is never upgraded, and Helm would delete it first to
recreate it, without what the catalog and the operator put there. So it has the marks by
which Helm takes it for the release's own, and is a plain object from the first upgrade
on; and nothing but the broker's end deletes it.
*/}}
{{- define "broker.metadata" -}}
{{- $name := include "broker.objectName" .id -}}
{{- $live := lookup "servicecatalog.k8s.io/v1beta1" .kind "" $name -}}
name: {{ $name }}
labels:
  app.kubernetes.io/managed-by: {{ .root.Release.Service }}
annotations:
  meta.helm.sh/release-name: {{ .root.Release.Name }}
  meta.helm.sh/release-namespace: {{ .root.Release.Namespace }}
  helm.sh/resource-policy: keep
  {{- if and (eq .root.Values.catalogAs "hook") .root.Release.IsInstall (not $live) }}
  helm.sh/hook: pre-install
  helm.sh/hook-weight: {{ ternary "0" "1" (eq .kind "ClusterServiceClass") | quote }}
  helm.sh/hook-delete-policy: hook-failed
  {{- else if eq .root.Values.catalogAs "objects" }}
  argocd.argoproj.io/sync-wave: "-1"
  {{- end }}
  {{- with include "broker.default" (dict "isDefault" .isDefault "live" $live) }}
  {{- . | nindent 2 }}
  {{- end }}
{{- end -}}

{{- /*
broker.objectName is what the relist calls the object of an ID: z begins what it escapes,
so it is escaped itself. All else that it would escape, values.schema.json refuses.
*/ -}}
{{- define "broker.objectName" -}}
{{ . | replace "z" "z7az" }}
{{- end -}}

{{- /*
broker.default marks a plan as the default of its type when it is made. Later the operator
decides: an upgrade leaves the mark as it is, and does not hold on to one that the record
of the type has left already.
*/ -}}
{{- define "broker.default" -}}
{{- $mark := "servicecatalog.kubernetes.io/is-default-plan" -}}
{{- if .live -}}
{{- $type := lookup "servicecatalog.k8s.io/v1beta1" "ClusterServiceType" "" (dig "spec" "serviceType" "none" .live) -}}
{{- $recorded := dig "spec" "defaultPlanRef" "name" .live.metadata.name ($type | default dict) -}}
{{- if and (eq (get (.live.metadata.annotations | default dict) $mark) "true") (eq $recorded .live.metadata.name) -}}
{{ $mark }}: "true"
{{- end -}}
{{- else if .isDefault -}}
{{ $mark }}: "true"
{{- end -}}
{{- end -}}

{{- /* broker.facts are what the catalog says too, and what it does not. */ -}}
{{- define "broker.facts" -}}
externalID: {{ .id | quote }}
externalName: {{ .name | quote }}
{{- with pick . "serviceType" "defaultProvisionParameters" "defaultBindParameters" "defaultSecretTransforms" }}
{{ toYaml . }}
{{- end }}
{{- end -}}
