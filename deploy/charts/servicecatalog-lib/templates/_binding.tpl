{{- /*
servicecatalog.binding is a ServiceBinding to an instance of this chart: its Secret
holds what the broker returns.

    {{ include "servicecatalog.binding" (dict "root" . "name" "db" "values" .Values.database) }}

root, name, values and given are as in servicecatalog.instance; of values it uses
binding, labels and annotations.
instance  what the instance is called in this chart, where that is not name: for a second
        binding, and for one that takes the place of another
keys    the Secret's keys as the chart needs them, each with the broker's name of it:
        (dict "host" "hostname") has the broker's hostname under host. The block's
        binding.keys come after these, key by key.
*/}}
{{- define "servicecatalog.binding" -}}
{{- $block := include "servicecatalog.block" . | fromYaml -}}
{{- $binding := $block.binding | default dict -}}
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ServiceBinding
metadata:
  name: {{ include "servicecatalog.name" . }}
  {{- include "servicecatalog.metadata" (dict "root" .root "block" $block) | nindent 2 }}
spec:
  instanceRef:
    name: {{ include "servicecatalog.name" (dict "root" .root "name" (.instance | default .name)) }}
  secretName: {{ include "servicecatalog.secretName" . }}
  {{- include "servicecatalog.parameters" $binding | nindent 2 }}
  {{- $keys := merge (dict) ($binding.keys | default dict) (.keys | default dict) }}
  {{- if or $keys $binding.secretTransforms }}
  secretTransforms:
  {{- range $to, $from := $keys }}
  - renameKey: {from: {{ $from | quote }}, to: {{ $to | quote }}}
  {{- end }}
  {{- with $binding.secretTransforms }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- end }}
{{- end -}}
