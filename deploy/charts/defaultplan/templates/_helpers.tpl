{{/* What every object of ours is labelled with. */}}
{{- define "defaultplan.labels" -}}
{{- include "defaultplan.labels.and" (dict "root" .) }}
{{- end }}

{{/* The same, and labels that only this object has: dict "root" $ "own". */}}
{{- define "defaultplan.labels.and" -}}
app.kubernetes.io/name: defaultplan
app.kubernetes.io/part-of: defaultplan
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- include "defaultplan.labels.common" . }}
{{- with .own }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* commonLabels without those that the object has of its own, a line each: dict "root" $ "own".
Labels that manifests contain are refused: selectors, roles and svcat depend on them. */}}
{{- define "defaultplan.labels.common" -}}
{{- $own := .own | default dict }}
{{- range $name, $value := .root.Values.commonLabels }}
{{- if regexMatch "^(app\\.kubernetes\\.io/(name|component|part-of|version|managed-by)|helm\\.sh/chart|svcat)$|^(rbac\\.authorization\\.k8s|servicebinding)\\.io/" $name }}
{{- fail (printf "commonLabels has %s, a label that the chart sets itself: remove it from commonLabels" $name) }}
{{- end }}
{{- if not (hasKey $own $name) }}
{{ $name | quote }}: {{ $value | quote }}
{{- end }}
{{- end }}
{{- end }}

{{/* What selects the pods of a component; it must never change. */}}
{{- define "defaultplan.selector" -}}
app.kubernetes.io/name: defaultplan
app.kubernetes.io/component: {{ . }}
{{- end }}

{{/* Metadata of an object of a component: dict "root" $ "name" "component", and "own" where it has
labels of its own. */}}
{{- define "defaultplan.metadata" -}}
name: {{ .name }}
namespace: {{ .root.Release.Namespace | quote }}
labels:
  app.kubernetes.io/component: {{ .component }}
  {{- include "defaultplan.labels.and" . | nindent 2 }}
{{- end }}

{{/* The image of a component: dict "root" $ "component". A released chart has the digests of its own
images in annotations; another tag, repository or digest is the user's. */}}
{{- define "defaultplan.image" -}}
{{- $images := .root.Values.images }}
{{- $image := index $images .component }}
{{- with $images.registry }}{{ trimSuffix "/" . }}/{{ end }}{{ $image.repository }}:{{ $images.tag | default .root.Chart.AppVersion }}
{{- $digest := $image.digest }}
{{- if not (or $digest $images.tag (ne $image.repository (printf "defaultplan/%s" .component))) }}
{{- $digest = index (.root.Chart.Annotations | default dict) (printf "defaultplan/%s-digest" .component) }}
{{- end }}
{{- with $digest }}@{{ . }}{{ end }}
{{- end }}

{{/* "true" where the keeper issues the certificates, or still may: its Secrets and
its rights stay until the configurations trust cert-manager's alone. */}}
{{- define "defaultplan.certs.managed" -}}
{{- if or (eq .Values.certs.mode "managed") (not .Values.certs.certManager.inject) }}true{{ end }}
{{- end }}

{{/* "true" from when the keeper has cert-manager's authority trusted beside its own until
the last pod that did is replaced: so long it reads cert-manager's Secret. */}}
{{- define "defaultplan.certs.switch" -}}
{{- if and (include "defaultplan.certs.managed" .) (or .Values.certs.certManager.issue (eq .Values.certs.mode "cert-manager")) }}true{{ end }}
{{- end }}

{{/* "true" where cert-manager issues a certificate. */}}
{{- define "defaultplan.certs.certManager" -}}
{{- if or (eq .Values.certs.mode "cert-manager") .Values.certs.certManager.issue }}true{{ end }}
{{- end }}

{{/* The Certificate whose CA cert-manager puts into the hook configurations, or nothing. */}}
{{- define "defaultplan.certs.injectFrom" -}}
{{- if and (eq .Values.certs.mode "cert-manager") .Values.certs.certManager.inject }}{{ .Release.Namespace }}/defaultplan-webhook{{ end }}
{{- end }}

{{/* Arguments of the flags that all daemons have. */}}
{{- define "defaultplan.args.common" -}}
{{- if not .metrics.secure }}
- --metrics-secure=false
{{- end }}
{{- with .tracing.endpoint }}
- --tracing-endpoint={{ . }}
{{- end }}
{{- with .tracing.samplingRatePerMillion }}
- --tracing-sampling-rate-per-million={{ . | int64 }}
{{- end }}
{{- end }}
