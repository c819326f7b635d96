{{- /*
servicecatalog.env are environment variables of a container, from the Secret's keys.

    env:
    {{- include "servicecatalog.env" (dict "root" . "name" "db" "values" .Values.database
        "env" (dict "DB_HOST" "host" "DB_PASSWORD" "password")) | nindent 4 }}

env     the variables, each with its key of the Secret
The pod waits until the Secret is there, and the variable until its key is.
*/}}
{{- define "servicecatalog.env" -}}
{{- $call := . -}}
{{- range $at, $variable := keys .env | sortAlpha }}
{{- if $at }}
{{ end -}}
- name: {{ $variable }}
  valueFrom:
    secretKeyRef: {name: {{ include "servicecatalog.secretName" $call }}, key: {{ index $call.env $variable | quote }}}
{{- end }}
{{- end -}}

{{- /*
servicecatalog.volume is a volume of a pod with a file for each key of the Secret; it
is called as the service is in the chart.

    volumes:
    {{- include "servicecatalog.volume" (dict "root" . "name" "db" "values" .Values.database) | nindent 4 }}
*/ -}}
{{- define "servicecatalog.volume" -}}
- name: {{ .name }}
  secret:
    secretName: {{ include "servicecatalog.secretName" . }}
{{- end -}}
