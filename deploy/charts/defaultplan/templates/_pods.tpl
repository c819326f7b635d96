{{/* A Deployment up to the pods' spec: dict "root" $ "component" "values". */}}
{{- define "defaultplan.deployment" -}}
{{- $name := printf "defaultplan-%s" .component }}
apiVersion: apps/v1
kind: Deployment
metadata:
  {{- include "defaultplan.metadata" (dict "root" .root "name" $name "component" .component) | nindent 2 }}
  {{- with .values.deploymentAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  replicas: {{ .values.replicas | int }}
  revisionHistoryLimit: 5
  strategy:
    {{- if .values.updateStrategy }}
    {{- toYaml .values.updateStrategy | nindent 4 }}
    {{- else }}
    type: RollingUpdate
    rollingUpdate:
      {{- if .values.hostNetwork }}
      # Two pods on one node would want the same ports.
      maxUnavailable: 1
      maxSurge: 0
      {{- else }}
      maxUnavailable: 0
      maxSurge: 1
      {{- end }}
    {{- end }}
  selector:
    matchLabels:
      {{- include "defaultplan.selector" .component | nindent 6 }}
  template:
    metadata:
      labels:
        {{- with include "defaultplan.labels.common" (dict "root" .root "own" .values.podLabels) | trim }}
        {{- . | nindent 8 }}
        {{- end }}
        {{- with .values.podLabels }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
        {{- include "defaultplan.selector" .component | nindent 8 }}
        app.kubernetes.io/part-of: defaultplan
      annotations:
        kubectl.kubernetes.io/default-container: {{ .component }}
        {{- with .values.podAnnotations }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
    spec:
      serviceAccountName: {{ include "defaultplan.serviceAccount" . | toYaml }}
      automountServiceAccountToken: true
      enableServiceLinks: false
      {{- if .values.hostNetwork }}
      hostNetwork: true
      {{- end }}
      {{- with .values.dnsPolicy | default (ternary "ClusterFirstWithHostNet" "" (.values.hostNetwork | default false)) }}
      dnsPolicy: {{ . }}
      {{- end }}
      {{- with .root.Values.priorityClass.name }}
      priorityClassName: {{ . }}
      {{- end }}
      terminationGracePeriodSeconds: {{ .values.terminationGracePeriodSeconds | int }}
      {{- with include "defaultplan.pullSecrets" .root }}
      {{- . | nindent 6 }}
      {{- end }}
      {{- include "defaultplan.securityContext" . | nindent 6 }}
      {{- include "defaultplan.scheduling" . | nindent 6 }}
{{- end }}

{{/* Where pods run: dict "component" "values". */}}
{{- define "defaultplan.scheduling" -}}
{{- $component := .component }}
{{- $spread := .values.topologySpread }}
{{- if or $spread.zone $spread.host -}}
topologySpreadConstraints:
{{- range list (list "topology.kubernetes.io/zone" $spread.zone) (list "kubernetes.io/hostname" $spread.host) }}
{{- if last . }}
- topologyKey: {{ first . }}
  maxSkew: 1
  whenUnsatisfiable: {{ last . }}
  labelSelector:
    matchLabels:
      {{- include "defaultplan.selector" $component | nindent 6 }}
  matchLabelKeys: [pod-template-hash]
{{- end }}
{{- end }}
{{- end }}
{{- with .values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* A container but for its arguments, ports and what else is its own: dict "root" "component" "values",
and "program" where the image is called otherwise. */}}
{{- define "defaultplan.container" -}}
{{- $program := .program | default .component -}}
name: {{ .component }}
image: {{ include "defaultplan.image" (dict "root" .root "component" $program) }}
imagePullPolicy: {{ .root.Values.images.pullPolicy }}
command: [/{{ $program }}]
env:
# So that no argument names the namespace, which can be another.
- name: NAMESPACE
  valueFrom:
    fieldRef:
      apiVersion: v1
      fieldPath: metadata.namespace
# Near the limit, the collector works more instead of the process being killed.
- name: GOMEMLIMIT
  valueFrom:
    resourceFieldRef:
      resource: limits.memory
      divisor: "1"
{{- with .values.extraEnv }}
{{- toYaml . | nindent 0 }}
{{- end }}
# Not ready is no reason to end it: it may wait for its caches or its certificate.
startupProbe:
  {{- include "defaultplan.probe" (list "/healthz" (dict "periodSeconds" 1 "timeoutSeconds" 2 "failureThreshold" 30) .values.startupProbe) | nindent 2 }}
readinessProbe:
  {{- include "defaultplan.probe" (list "/readyz" (dict "periodSeconds" 2 "timeoutSeconds" 2 "failureThreshold" 5) .values.readinessProbe) | nindent 2 }}
livenessProbe:
  {{- include "defaultplan.probe" (list "/healthz" (dict "periodSeconds" 10 "timeoutSeconds" 5 "failureThreshold" 3) .values.livenessProbe) | nindent 2 }}
{{- with .values.resources }}
resources:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{ include "defaultplan.container.securityContext" . }}
{{- end }}

{{/* What a pod takes to pull its images. */}}
{{- define "defaultplan.pullSecrets" -}}
{{- with .Values.images.pullSecrets -}}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- end }}

{{/* A probe: list of its path, its timings and the user's, which override them. */}}
{{- define "defaultplan.probe" -}}
httpGet: {path: {{ first . }}, port: health}
{{ toYaml (mergeOverwrite (index . 1) (index . 2)) }}
{{- end }}

{{/* What a pod may not do: dict "root" $ "values"; fields of the values override ours. */}}
{{- define "defaultplan.securityContext" -}}
{{- $context := dict "runAsNonRoot" true "seccompProfile" (dict "type" "RuntimeDefault") }}
{{- with .root.Values.runAsUser }}
{{- $context = merge $context (dict "runAsUser" (int64 .) "runAsGroup" (int64 .) "fsGroup" (int64 .)) }}
{{- end }}
securityContext:
  {{- toYaml (mergeOverwrite $context (.values.podSecurityContext | default dict)) | nindent 2 }}
{{- end }}

{{/* What a container may not do: dict "values". */}}
{{- define "defaultplan.container.securityContext" -}}
{{- $context := dict "allowPrivilegeEscalation" false "readOnlyRootFilesystem" true "capabilities" (dict "drop" (list "ALL")) -}}
securityContext:
  {{- toYaml (mergeOverwrite $context (.values.securityContext | default dict)) | nindent 2 }}
{{- end }}

{{/* What goes with a Deployment: the metrics' Service and, of more than one replica,
the budget: dict "root" $ "component" "values". */}}
{{- define "defaultplan.companions" -}}
apiVersion: v1
kind: Service
metadata:
  {{- include "defaultplan.metadata" (dict "root" .root "name" (printf "defaultplan-%s-metrics" .component) "component" .component) | nindent 2 }}
spec:
  type: ClusterIP
  selector:
    {{- include "defaultplan.selector" .component | nindent 4 }}
  ports:
  - name: metrics
    port: 8080
    targetPort: metrics
    protocol: TCP
    appProtocol: {{ ternary "https" "http" .root.Values.metrics.secure }}
{{- if and .values.podDisruptionBudget.enabled (gt (int .values.replicas) 1) }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  {{- include "defaultplan.metadata" (dict "root" .root "name" (printf "defaultplan-%s" .component) "component" .component) | nindent 2 }}
spec:
  minAvailable: {{ .values.podDisruptionBudget.minAvailable }}
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels:
      {{- include "defaultplan.selector" .component | nindent 6 }}
{{- end }}
{{- end }}
