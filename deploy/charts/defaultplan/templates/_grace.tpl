{{/* Nothing, or a failure where a webhook that is to go would be killed before its last
request is answered. An answer takes 10 s at most, the end of the process 5 s. */}}
{{- define "defaultplan.webhook.grace" -}}
{{- $need := add .preStopSeconds .drainSeconds 10 5 }}
{{- if gt $need (int64 .terminationGracePeriodSeconds) }}
{{- fail (printf "webhook.terminationGracePeriodSeconds is %d, and must be at least %d: webhook.preStopSeconds (%d), webhook.drainSeconds (%d), 10 to answer the last request and 5 to end" (int64 .terminationGracePeriodSeconds) $need (int64 .preStopSeconds) (int64 .drainSeconds)) }}
{{- end }}
{{- end }}

{{/* Nothing, or a failure where a controller would be killed before the outcome of a
call is written down, which takes 30 s at most; the end of the process 10 s. */}}
{{- define "defaultplan.controller.grace" -}}
{{- $timeout := .requestTimeout | default "60s" }}
{{- $call := include "defaultplan.seconds" $timeout | int64 }}
{{- $need := add $call 30 10 }}
{{- if gt $need (int64 .terminationGracePeriodSeconds) }}
{{- fail (printf "controller.terminationGracePeriodSeconds is %d, and must be at least %d: a call (controller.requestTimeout, %s), 30 to write down its outcome and 10 to end" (int64 .terminationGracePeriodSeconds) $need $timeout) }}
{{- end }}
{{- end }}

{{/* A duration such as 1h30m, 1.5m or 500ms in whole seconds, rounded up. */}}
{{- define "defaultplan.seconds" -}}
{{- $sum := 0.0 }}
{{- $units := dict "ms" 0.001 "s" 1.0 "m" 60.0 "h" 3600.0 }}
{{- range regexFindAll "[0-9.]+(ms|s|m|h)" . -1 }}
{{- $sum = addf $sum (mulf (regexFind "[0-9.]+" .) (get $units (regexFind "[a-z]+" .))) }}
{{- end }}
{{- ceil $sum | int64 }}
{{- end }}
