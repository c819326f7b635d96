{{/* The name of a component's ServiceAccount: dict "root" $ "component". */}}
{{- define "defaultplan.serviceAccount" -}}
{{- $account := (index .root.Values .component).serviceAccount }}
{{- if not (or $account.create $account.name) }}
{{- fail (printf "%s.serviceAccount.name is empty, and must be the name of an existing ServiceAccount: %s.serviceAccount.create is false" .component .component) }}
{{- end }}
{{- $account.name | default (printf "defaultplan-%s" .component) }}
{{- end }}

{{/* Nothing, or a failure where two components would have one user. Policies restrict the keeper,
and the controller with all ServiceAccounts whose names begin with the controller's. */}}
{{- define "defaultplan.serviceAccounts.differ" -}}
{{- $webhook := include "defaultplan.serviceAccount" (dict "root" . "component" "webhook") }}
{{- $keeper := include "defaultplan.serviceAccount" (dict "root" . "component" "keeper") }}
{{- $controller := include "defaultplan.serviceAccount" (dict "root" . "component" "controller") }}
{{- if eq $webhook $keeper }}
{{- fail (printf "webhook.serviceAccount.name and keeper.serviceAccount.name are both %s: give each component a ServiceAccount of its own" $webhook) }}
{{- end }}
{{- range $component, $name := dict "webhook" $webhook "keeper" $keeper "controller" $controller }}
{{- if eq $name "defaultplan-test" }}
{{- fail (printf "%s.serviceAccount.name is defaultplan-test, the ServiceAccount of helm test: choose another" $component) }}
{{- end }}
{{- end }}
{{- range $component, $name := dict "webhook" $webhook "keeper" $keeper }}
{{- if hasPrefix $controller $name }}
{{- fail (printf "%s.serviceAccount.name is %s, and must not begin with the name of the controller's ServiceAccount, %s: the policies for the controller would apply to it" $component $name $controller) }}
{{- end }}
{{- end }}
{{- end }}
