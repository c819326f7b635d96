{{- /*
servicecatalog.block is the override block of a call as it counts, judged, as YAML. It
fails with what is wrong and where, for a block that names something else than it
wants gets another database than it asked for.
*/}}
{{- define "servicecatalog.block" -}}
{{- $where := printf "servicecatalog: %q" (.name | default "") -}}
{{- $block := deepCopy (.values | default dict) -}}
{{- $known := list "serviceType" "className" "planName" "scope" "planSelector" "parameters" "parametersFrom" "withoutDefaults" "labels" "annotations" "binding" -}}
{{- include "servicecatalog.known" (dict "where" $where "has" $block "known" $known) -}}
{{- $bindings := list "parameters" "parametersFrom" "withoutDefaults" "secretName" "keys" "secretTransforms" -}}
{{- include "servicecatalog.known" (dict "where" (printf "%s: binding" $where) "has" ($block.binding | default dict) "known" $bindings) -}}
{{- $given := .given | default dict -}}
{{- range list "className" "planName" "parameters" -}}
{{- if and (not (index $block .)) (index $given .) -}}
{{- $_ := set $block . (index $given .) -}}
{{- end -}}
{{- end -}}
{{- include "servicecatalog.judge" (dict "where" $where "type" .type "block" $block) -}}
{{- toYaml $block -}}
{{- end -}}

{{- /* servicecatalog.known fails for an unknown key, such as a misspelled one. */ -}}
{{- define "servicecatalog.known" -}}
{{- $call := . -}}
{{- range $key, $_ := .has -}}
{{- if not (has $key $call.known) -}}
{{- fail (printf "%s: there is no %q; there are %s" $call.where $key (sortAlpha $call.known | join ", ")) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* servicecatalog.judge fails for a choice that cannot be meant. */ -}}
{{- define "servicecatalog.judge" -}}
{{- $b := .block -}}
{{- if and $b.planName (not $b.className) -}}
{{- fail (printf "%s: planName is %q, but there is no className: a plan is one of a class, so name both, or neither for the default of the type" .where $b.planName) -}}
{{- end -}}
{{- if and $b.planSelector $b.planName -}}
{{- fail (printf "%s: planSelector and planName (%q) exclude each other: leave one out" .where $b.planName) -}}
{{- end -}}
{{- if and $b.planSelector (not $b.planSelector.matchLabels) (not $b.planSelector.matchExpressions) -}}
{{- fail (printf "%s: planSelector has neither matchLabels nor matchExpressions: {matchLabels: {tier: dev}}" .where) -}}
{{- end -}}
{{- if not (has ($b.scope | default "cluster") (list "cluster" "namespace")) -}}
{{- fail (printf "%s: scope is %q; there are cluster (classes of the cluster, the default) and namespace (classes of the release's namespace)" .where $b.scope) -}}
{{- end -}}
{{- if and (eq ($b.scope | default "cluster") "namespace") (not $b.className) -}}
{{- fail (printf "%s: scope is \"namespace\", but there is no className: it says where the class is, so name the class, or leave scope out for the default of the type" .where) -}}
{{- end -}}
{{- range $b.withoutDefaults -}}
{{- if hasKey ($b.parameters | default dict) . -}}
{{- fail (printf "%s: %q is in parameters and in withoutDefaults: leave it out of one" $.where .) -}}
{{- end -}}
{{- end -}}
{{- end -}}
