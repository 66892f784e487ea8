{{- /* One file for each kind of process, in the form of docs/operate/configuration.md. */ -}}

{{- define "tessera.config.common" -}}
{{- $edge := dict "host" "0.0.0.0" -}}
{{- $peer := dict "tokenPath" "/etc/tessera/access/peer.token" -}}
{{- if .Values.tls.secretName -}}
{{- $_ := set $edge "certificatePath" "/etc/tessera/tls/tls.crt" -}}
{{- $_ := set $edge "keyPath" "/etc/tessera/tls/tls.key" -}}
{{- $_ := set $peer "tls" "on" -}}
{{- $_ := set $peer "caPath" "/etc/tessera/tls/ca.crt" -}}
{{- end -}}
{{- $shutdown := dict "delayMs" (int .Values.shutdown.delayMs) "drainMs" (int .Values.shutdown.drainMs) -}}
{{- dict
  "http" (merge (dict "port" 8080) $edge)
  "grpc" (merge (dict "port" 50051) $edge)
  "edge" (dict "connectionAgeMs" 300000)
  "access" (dict "tokensPath" "/etc/tessera/access/tokens.json")
  "peer" $peer
  "shutdown" $shutdown
| toJson -}}
{{- end -}}

{{- define "tessera.config.log" -}}
{{- with .Values.cluster.log -}}
{{- dict "etcd" .etcd "logStore" .store | toJson -}}
{{- end -}}
{{- end -}}

{{- /* @param component nodes or append */ -}}
{{- define "tessera.config.node" -}}
{{- $root := .root -}}
{{- $values := $root.Values -}}
{{- $config := include "tessera.config.common" $root | fromJson -}}
{{- if ne $values.model.source "demo" -}}
{{- $_ := set $config "model" (dict "path" (printf "/model/%s" $values.model.subPath | trimSuffix "/")) -}}
{{- end -}}
{{- with $values.catalogue.path -}}
{{- $path := ternary . (printf "/model/%s" .) (hasPrefix "/" .) -}}
{{- $_ := set $config "catalogue" (dict "path" $path) -}}
{{- end -}}
{{- $_ := set $config "recall" (dict "withoutFeatures" $values.behaviours.withoutFeatures) -}}
{{- if include "tessera.isClustered" $root -}}
{{- $cluster := include "tessera.config.log" $root | fromJson -}}
{{- if include "tessera.hasRoles" $root -}}
{{- $_ := set $cluster "role" (ternary "append" "answer" (eq .component "append")) -}}
{{- end -}}
{{- $_ := set $config "cluster" $cluster -}}
{{- $behaviours := dict "store" "redis" "redis" $values.behaviours.redis -}}
{{- if include "tessera.hasFeature" $root -}}
{{- $feature := printf "%s-feature.%s:50051" (include "tessera.name" $root) (include "tessera.domain" $root) -}}
{{- $behaviours = dict "store" "remote" "remote" $feature -}}
{{- end -}}
{{- $_ := set $config "behaviours" $behaviours -}}
{{- $gateway := printf "%s.%s:8080" (include "tessera.name" $root) (include "tessera.domain" $root) -}}
{{- $_ := set $config "console" (dict "gateway" $gateway) -}}
{{- if eq $values.form "shared-kv" -}}
{{- $_ := set $config "kv" (dict "shared" (join " " $values.sharedKv.stores)) -}}
{{- end -}}
{{- end -}}
{{- mergeOverwrite $config (deepCopy $values.config) | toPrettyJson -}}
{{- end -}}

{{- define "tessera.members" -}}
{{- $root := . -}}
{{- $domain := include "tessera.domain" . -}}
{{- $members := list -}}
{{- range $component, $count := dict "nodes" .Values.nodes.replicas "append" .Values.sharedKv.appendReplicas -}}
{{- $name := printf "%s-%s" (include "tessera.name" $root) $component -}}
{{- range $at := until (int $count) -}}
{{- $pod := printf "%s-%d" $name $at -}}
{{- $host := printf "%s.%s.%s" $pod $name $domain -}}
{{- $role := ternary "append" "answer" (eq $component "append") -}}
{{- $members = append $members (printf "%s=%s:50051/%s:8080@%s" $pod $host $host $role) -}}
{{- end -}}
{{- end -}}
{{- join "," $members -}}
{{- end -}}

{{- define "tessera.config.gateway" -}}
{{- $config := include "tessera.config.common" . | fromJson -}}
{{- $cluster := dict "dns" (printf "%s-nodes.%s" (include "tessera.name" .) (include "tessera.domain" .)) -}}
{{- if include "tessera.hasRoles" . -}}
{{- $cluster = dict "nodes" (include "tessera.members" .) -}}
{{- end -}}
{{- if include "tessera.hasFeature" . -}}
{{- $_ := set $cluster "behaviours" (printf "%s-feature.%s:50051" (include "tessera.name" .) (include "tessera.domain" .)) -}}
{{- end -}}
{{- if not (include "tessera.hasRoles" .) -}}
{{- $wanted := ternary .Values.nodes.replicas .Values.autoscaling.minReplicas (eq .Values.autoscaling.kind "none") -}}
{{- $_ := set $cluster "nodesWanted" (int $wanted) -}}
{{- end -}}
{{- $_ := set $config "cluster" $cluster -}}
{{- mergeOverwrite $config (deepCopy .Values.config) | toPrettyJson -}}
{{- end -}}

{{- define "tessera.config.feature" -}}
{{- $config := include "tessera.config.common" . | fromJson -}}
{{- $gateway := printf "%s.%s:50051" (include "tessera.name" .) (include "tessera.domain" .) -}}
{{- $_ := set $config "cluster" (include "tessera.config.log" . | fromJson) -}}
{{- $_ := set $config "behaviours" (dict "retrieval" $gateway) -}}
{{- mergeOverwrite $config (deepCopy .Values.config) | toPrettyJson -}}
{{- end -}}

{{- /* @param root, component */ -}}
{{- define "tessera.config" -}}
{{- if eq .component "gateway" -}}
{{- include "tessera.config.gateway" .root -}}
{{- else if eq .component "feature" -}}
{{- include "tessera.config.feature" .root -}}
{{- else -}}
{{- include "tessera.config.node" . -}}
{{- end -}}
{{- end -}}

{{- define "tessera.components" -}}
nodes
{{- if include "tessera.hasRoles" . }},append{{ end }}
{{- if include "tessera.isClustered" . }},gateway{{ end }}
{{- if include "tessera.hasFeature" . }},feature{{ end }}
{{- end -}}
