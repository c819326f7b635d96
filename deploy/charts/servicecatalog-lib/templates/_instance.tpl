{{- /*
servicecatalog.instance is a ServiceInstance, by type.

    {{ include "servicecatalog.instance" (dict "root" . "name" "db" "type" "mysql" "values" .Values.database) }}

root    the chart's context: a dot at the top of a template
name    what the service is called in this chart; the object is RELEASE-NAME
type    the service type that the chart can work with, such as mysql
values  the override block, as override.schema.json has it; may be empty
given   further values of which className, planName and parameters count where the
        block has none: .Values, for charts that take these at the top
*/}}
{{- define "servicecatalog.instance" -}}
{{- $block := include "servicecatalog.block" . | fromYaml -}}
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ServiceInstance
metadata:
  name: {{ include "servicecatalog.name" . }}
  {{- include "servicecatalog.metadata" (dict "root" .root "block" $block) | nindent 2 }}
spec:
  {{- with $block.serviceType | default .type }}
  serviceType: {{ . | quote }}
  {{- end }}
  {{- with include "servicecatalog.choice" $block | trim }}
  {{- . | nindent 2 }}
  {{- end }}
  {{- include "servicecatalog.parameters" $block | nindent 2 }}
{{- end -}}

{{- /* servicecatalog.choice is what a block says of class and plan; nothing by default. */ -}}
{{- define "servicecatalog.choice" -}}
{{- $scope := ternary "service" "clusterService" (eq .scope "namespace") -}}
{{- with .className }}
{{ $scope }}ClassExternalName: {{ . | quote }}
{{- end }}
{{- with .planName }}
{{ $scope }}PlanExternalName: {{ . | quote }}
{{- end }}
{{- with .planSelector }}
planSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- /*
servicecatalog.parameters are the parameters of a block, which may be none: the field is
always there, because a field that a later revision leaves out is removed with all that
is in it, the defaults that admission filled in too. withoutDefaults makes nulls: a null in
Helm's values is gone before a template sees it, where the chart's own have the key.
*/}}
{{- define "servicecatalog.parameters" -}}
{{- $parameters := deepCopy (.parameters | default dict) -}}
{{- range .withoutDefaults -}}
{{- $_ := set $parameters . nil -}}
{{- end -}}
parameters: {{- if $parameters }}{{ toYaml $parameters | nindent 2 }}{{ else }} {}{{ end }}
{{- with .parametersFrom }}
parametersFrom: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}
