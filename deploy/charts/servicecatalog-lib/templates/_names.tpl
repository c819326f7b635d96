{{- /*
servicecatalog.name is what the instance and the binding are called: RELEASE-NAME, as
long as that is no more than 63 characters; else cut, with a sum that tells it from
others.
*/}}
{{- define "servicecatalog.name" -}}
{{- if not .root }}{{ fail "servicecatalog: say what the chart is: (dict \"root\" . \"name\" \"db\" …), or \"root\" $ inside of range and with" }}{{ end -}}
{{- if not .name }}{{ fail "servicecatalog: say what the service is called in this chart: \"name\" \"db\"" }}{{ end -}}
{{- $name := printf "%s-%s" .root.Release.Name .name -}}
{{- if gt (len $name) 63 -}}
{{- $name = printf "%s-%s" (trunc 54 $name | trimSuffix "-") (sha256sum $name | trunc 8) -}}
{{- end -}}
{{- $name -}}
{{- end -}}

{{- /* servicecatalog.secretName is the Secret of the binding: named as it, or as binding.secretName says. */ -}}
{{- define "servicecatalog.secretName" -}}
{{- $binding := (.values | default dict).binding | default dict -}}
{{- $binding.secretName | default (include "servicecatalog.name" .) -}}
{{- end -}}

{{- /* servicecatalog.metadata are labels and annotations, the chart's and the block's. */ -}}
{{- define "servicecatalog.metadata" -}}
labels:
  app.kubernetes.io/name: {{ .root.Chart.Name | quote }}
  app.kubernetes.io/instance: {{ .root.Release.Name | quote }}
  app.kubernetes.io/managed-by: {{ .root.Release.Service | quote }}
  {{- with .block.labels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with .block.annotations }}
annotations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}
