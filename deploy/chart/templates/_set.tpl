{{- /*
A StatefulSet of one kind of process.
@param root, component, app (folder of apps/), replicas, values (its part of values.yaml)
*/ -}}
{{- define "tessera.set" -}}
{{- $root := .root -}}
{{- $values := .root.Values -}}
{{- $hasModel := and (eq .app "standalone") (ne $values.model.source "demo") -}}
{{- $name := printf "%s-%s" (include "tessera.name" .root) .component -}}
{{- $scheme := ternary "HTTPS" "HTTP" (ne $values.tls.secretName "") -}}
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: {{ $name }}
  labels:
    {{- include "tessera.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
spec:
  serviceName: {{ $name }}
  {{- if not .isScaled }}
  replicas: {{ int .replicas }}
  {{- end }}
  podManagementPolicy: Parallel
  {{- with .values.updateStrategy }}
  updateStrategy:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .values.minReadySeconds }}
  minReadySeconds: {{ int . }}
  {{- end }}
  {{- with .values.persistentVolumeClaimRetentionPolicy }}
  persistentVolumeClaimRetentionPolicy:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  selector:
    matchLabels:
      {{- include "tessera.selector" . | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "tessera.selector" . | nindent 8 }}
        {{- with .values.podLabels }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      annotations:
        # A changed configuration is a new pod.
        checksum/config: {{ include "tessera.config" . | sha256sum }}
        {{- with .values.podAnnotations }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
    spec:
      serviceAccountName: {{ include "tessera.serviceAccount" .root }}
      automountServiceAccountToken: false
      # Its variables would look like ours.
      enableServiceLinks: false
      # Longer than the delay, the drain and what comes behind it.
      terminationGracePeriodSeconds: {{ add 30 (div (add (int $values.shutdown.delayMs) (int $values.shutdown.drainMs)) 1000) }}
      securityContext:
        {{- include "tessera.podSecurity" .root | nindent 8 }}
      {{- with $values.image.pullSecrets }}
      imagePullSecrets:
        {{- range . }}
        - name: {{ . }}
        {{- end }}
      {{- end }}
      topologySpreadConstraints:
        {{- range $key, $when := dict "kubernetes.io/hostname" $values.topologySpread.host "topology.kubernetes.io/zone" $values.topologySpread.zone }}
        - maxSkew: 1
          topologyKey: {{ $key }}
          whenUnsatisfiable: {{ $when }}
          labelSelector:
            matchLabels:
              {{- include "tessera.selector" $ | nindent 14 }}
        {{- end }}
      {{- with .values.nodeSelector }}
      nodeSelector:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .values.tolerations }}
      tolerations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .values.affinity }}
      affinity:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .values.priorityClassName }}
      priorityClassName: {{ . }}
      {{- end }}
      {{- with .values.dnsConfig }}
      dnsConfig:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .values.hostAliases }}
      hostAliases:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- $init := ternary (include "tessera.modelInit" .root) "" $hasModel | trim }}
      {{- if or $init .values.extraInitContainers }}
      initContainers:
        {{- with .values.extraInitContainers }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
        {{- with $init }}
        {{- . | nindent 8 }}
        {{- end }}
      {{- end }}
      containers:
        - name: tessera
          image: {{ include "tessera.image" .root }}
          imagePullPolicy: {{ $values.image.pullPolicy }}
          args: [node, dist/apps/{{ .app }}/src/main.js]
          env:
            - name: TESSERA_NODE_NAME
              valueFrom:
                fieldRef:
                  fieldPath: metadata.name
            {{- if and (eq .app "standalone") (include "tessera.isClustered" .root) }}
            {{- $host := printf "$(TESSERA_NODE_NAME).%s-%s.%s" (include "tessera.name" .root) .component (include "tessera.domain" .root) }}
            - name: TESSERA_CLUSTER_ADVERTISE
              value: {{ printf "%s:50051/%s:8080" $host $host }}
            {{- end }}
            - name: TESSERA_CONFIG_FILE
              value: /etc/tessera/config/{{ .component }}.json
            {{- with .values.env }}
            {{- toYaml . | nindent 12 }}
            {{- end }}
          {{- with .values.envFrom }}
          envFrom:
            {{- toYaml . | nindent 12 }}
          {{- end }}
          ports:
            - name: grpc
              containerPort: 50051
            - name: http
              containerPort: 8080
          {{- range $probe, $path := dict "startup" "live" "readiness" "ready" "liveness" "live" }}
          {{ $probe }}Probe:
            httpGet: { path: /health/{{ $path }}, port: http, scheme: {{ $scheme }} }
            {{- mergeOverwrite (get (include "tessera.probes" $ | fromYaml) $probe) (dig "probes" $probe (dict) $.values) | toYaml | nindent 12 }}
          {{- end }}
          resources:
            {{- $fills := and $hasModel (ne $values.model.source "claim") }}
            {{- $own := ternary (dict "requests" (dict "ephemeral-storage" $values.model.size)) dict $fills }}
            {{- merge (deepCopy .values.resources) $own | toYaml | nindent 12 }}
          securityContext:
            {{- include "tessera.containerSecurity" .root | nindent 12 }}
          volumeMounts:
            - { name: data, mountPath: /app/data }
            - { name: config, mountPath: /etc/tessera/config, readOnly: true }
            - { name: access, mountPath: /etc/tessera/access, readOnly: true }
            {{- if $values.tls.secretName }}
            - { name: tls, mountPath: /etc/tessera/tls, readOnly: true }
            {{- end }}
            {{- if $hasModel }}
            - { name: model, mountPath: /model, readOnly: true }
            {{- end }}
            {{- with .values.extraVolumeMounts }}
            {{- toYaml . | nindent 12 }}
            {{- end }}
        {{- with .values.extraContainers }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      volumes:
        - name: config
          configMap:
            name: {{ include "tessera.name" .root }}
        - name: access
          secret:
            secretName: {{ required "access.secretName: expected a Secret with tokens.json and peer.token (README.md of the chart, step 1), got none" $values.access.secretName }}
            # 0440, for the group of the pod.
            defaultMode: 288
        {{- if $values.tls.secretName }}
        - name: tls
          secret:
            secretName: {{ $values.tls.secretName }}
            # 0440, for the group of the pod.
            defaultMode: 288
        {{- end }}
        {{- if $hasModel }}
        {{- include "tessera.modelVolumes" .root | nindent 8 }}
        {{- end }}
        {{- with .values.extraVolumes }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  volumeClaimTemplates:
    - metadata:
        name: data
      spec:
        accessModes: [ReadWriteOnce]
        {{- with .values.storageClass }}
        storageClassName: {{ . }}
        {{- end }}
        resources:
          requests:
            storage: {{ .values.disk }}
{{- end -}}

{{- define "tessera.modelVolumes" -}}
- name: model
  {{- if eq .Values.model.source "claim" }}
  persistentVolumeClaim:
    claimName: {{ .Values.model.claim.name }}
    readOnly: true
  {{- else }}
  emptyDir:
    sizeLimit: {{ .Values.model.size }}
  {{- end }}
{{- if eq .Values.model.source "s3" }}
- name: tmp
  emptyDir: {}
{{- end }}
{{- end -}}

{{- define "tessera.modelInit" -}}
{{- if eq .Values.model.source "init" }}
{{- range .Values.model.init.containers }}
{{- $own := dict "name" "model" "mountPath" "/model" }}
{{- $mounts := append (.volumeMounts | default list) $own }}
- {{- mergeOverwrite (deepCopy .) (dict "volumeMounts" $mounts) | toYaml | nindent 2 }}
{{- end }}
{{- else if eq .Values.model.source "s3" }}
- name: model
  image: {{ .Values.model.s3.image }}
  args: [s3, sync, --no-progress, {{ .Values.model.s3.uri | quote }}, /model]
  env:
    - name: HOME
      value: /tmp
    - name: AWS_REGION
      value: {{ .Values.model.s3.region }}
    {{- with .Values.model.s3.endpoint }}
    - name: AWS_ENDPOINT_URL
      value: {{ . | quote }}
    {{- end }}
  {{- with .Values.model.s3.credentialsSecret }}
  envFrom:
    - secretRef:
        name: {{ . }}
  {{- end }}
  resources:
    {{- merge (deepCopy .Values.model.s3.resources) (dict "requests" (dict "ephemeral-storage" .Values.model.size)) | toYaml | nindent 4 }}
  securityContext:
    {{- include "tessera.containerSecurity" . | nindent 4 }}
  volumeMounts:
    - { name: model, mountPath: /model }
    - { name: tmp, mountPath: /tmp }
{{- end }}
{{- end -}}

{{- /* A model takes its time to load, and a starved process is slow to answer. */ -}}
{{- define "tessera.probes" -}}
startup: { periodSeconds: 1, timeoutSeconds: 5, failureThreshold: 3600 }
readiness: { periodSeconds: 1, timeoutSeconds: 2, failureThreshold: 2 }
liveness: { periodSeconds: 5, timeoutSeconds: 10, failureThreshold: 12 }
{{- end -}}
