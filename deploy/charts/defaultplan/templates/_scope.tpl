{{/* What the controller would refuse to start with. */}}
{{- define "defaultplan.controller.scope" -}}
{{- if and .namespaces (not .clusterID) }}
{{- fail "controller.namespaces goes with controller.clusterID: what the cluster is known by is in a namespace that the controller does not look into" }}
{{- end }}
{{- if and .ignoreQuotas (not .namespaces) }}
{{- fail "controller.ignoreQuotas goes with controller.namespaces: a controller of the whole cluster reads policies, and keeps to them" }}
{{- end }}
{{- end }}
