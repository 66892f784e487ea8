{{- define "tessera.name" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride -}}
{{- else if contains "tessera" .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-tessera" .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "tessera.serviceAccount" -}}
{{- .Values.serviceAccount.name | default (ternary (include "tessera.name" .) "default" .Values.serviceAccount.create) -}}
{{- end -}}

{{- define "tessera.isClustered" -}}
{{- if ne .Values.form "embedded" }}true{{ end -}}
{{- end -}}

{{- /* Nodes that only append: their names must be listed, for DNS has no room for roles. */ -}}
{{- define "tessera.hasRoles" -}}
{{- if and (eq .Values.form "shared-kv") (gt (int .Values.sharedKv.appendReplicas) 0) }}true{{ end -}}
{{- end -}}

{{- define "tessera.hasFeature" -}}
{{- if and (include "tessera.isClustered" .) (eq .Values.behaviours.store "feature") }}true{{ end -}}
{{- end -}}

{{- define "tessera.labels" -}}
app.kubernetes.io/name: tessera
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- /* @param component nodes, append, gateway or feature */ -}}
{{- define "tessera.selector" -}}
app.kubernetes.io/name: tessera
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "tessera.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "tessera.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "tessera.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{- /* A pod's host: its name is the first label, as the gateway takes it. */ -}}
{{- define "tessera.domain" -}}
{{ .Release.Namespace }}.svc.{{ .Values.cluster.domain }}
{{- end -}}
