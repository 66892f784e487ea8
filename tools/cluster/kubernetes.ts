/** Manifests as JSON documents of one List: kubectl takes them as it takes YAML. */

const APP = 'app.kubernetes.io/name';
const NODES = 'tessera-nodes';
const GATEWAY = 'tessera-gateway';
const FEATURE = 'tessera-feature';
const IMAGE = 'tessera:latest';
const PORTS = [
  { name: 'grpc', containerPort: 50_051 },
  { name: 'http', containerPort: 8080 },
];
/** Longer than shutdown.drainMs and what comes behind it. */
const DRAIN_SECONDS = 60;

const labels = (name: string) => ({ [APP]: name });
const named = (name: string) => ({ name, labels: labels(name) });
const value = (name: string, text: string) => ({ name, value: text });

const ALL_ADDRESSES = [
  // Twice what a probe takes to be believed, and connections that follow new pods.
  value('TESSERA_SHUTDOWN_DELAY_MS', '5000'),
  value('TESSERA_EDGE_CONNECTION_AGE_MS', '300000'),
  value('TESSERA_HTTP_HOST', '0.0.0.0'),
  value('TESSERA_GRPC_HOST', '0.0.0.0'),
  value('TESSERA_ACCESS_TOKENS_PATH', '/etc/tessera/tokens.json'),
  value('TESSERA_PEER_TOKEN_PATH', '/etc/tessera/peer.token'),
];
const POD_NAME = {
  name: 'TESSERA_NODE_NAME',
  valueFrom: { fieldRef: { fieldPath: 'metadata.name' } },
};
/** A Redis or Valkey with appendonly on, and a bucket, of whoever deploys. */
const LOG = [
  value('TESSERA_CLUSTER_LOG', 'redis'),
  value('TESSERA_CLUSTER_LOG_REDIS', 'tessera-redis:6379'),
  value('TESSERA_CLUSTER_LOG_STORE', 's3://tessera-log/cluster'),
];
const SECRETS = { name: 'access', mountPath: '/etc/tessera', readOnly: true };
const SECRET_VOLUME = { name: 'access', secret: { secretName: 'tessera-access' } };

const probe = (path: string, failureThreshold: number) => ({
  httpGet: { path, port: 'http' },
  periodSeconds: 1,
  timeoutSeconds: 2,
  failureThreshold,
});

function container(app: string, env: readonly object[], mounts: readonly object[]) {
  return {
    name: 'tessera',
    image: IMAGE,
    command: ['node', `dist/apps/${app}/src/main.js`],
    env: [POD_NAME, ...ALL_ADDRESSES, ...env],
    ports: PORTS,
    // A model takes its time to load.
    startupProbe: probe('/health/live', 600),
    readinessProbe: probe('/health/ready', 2),
    livenessProbe: probe('/health/live', 30),
    volumeMounts: [SECRETS, ...mounts],
  };
}

const servicePorts = PORTS.map(({ name, containerPort }) => ({
  name,
  port: containerPort,
  targetPort: name,
}));

const service = (name: string, more: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: named(name),
  spec: Object.assign({ selector: labels(name), ports: servicePorts }, more),
});

function stateful(
  name: string,
  app: string,
  replicas: number,
  env: readonly object[],
  disk: string,
) {
  const data = { name: 'data', mountPath: '/app/data' };
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: named(name),
    spec: {
      serviceName: name,
      replicas,
      podManagementPolicy: 'Parallel',
      selector: { matchLabels: labels(name) },
      template: {
        metadata: { labels: labels(name) },
        spec: {
          terminationGracePeriodSeconds: DRAIN_SECONDS,
          // Its variables would look like ours.
          enableServiceLinks: false,
          containers: [container(app, env, [data])],
          volumes: [SECRET_VOLUME],
        },
      },
      volumeClaimTemplates: [
        {
          metadata: { name: 'data' },
          spec: {
            accessModes: ['ReadWriteOnce'],
            resources: { requests: { storage: disk } },
          },
        },
      ],
    },
  };
}

const budget = (name: string) => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: named(name),
  spec: { maxUnavailable: 1, selector: { matchLabels: labels(name) } },
});

/** By seconds of predicted work that waits per node, as a gateway's metric says. */
function autoscaler(nodes: number) {
  return {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: named(NODES),
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'StatefulSet', name: NODES },
      minReplicas: nodes,
      maxReplicas: 4 * nodes,
      metrics: [
        {
          type: 'External',
          external: {
            metric: { name: 'tessera_cluster_outstanding_seconds' },
            target: { type: 'AverageValue', averageValue: '100m' },
          },
        },
      ],
      // A node that goes takes its users' keys and values with it: rarely, and one at a time.
      behavior: {
        scaleDown: {
          stabilizationWindowSeconds: 1800,
          policies: [{ type: 'Pods', value: 1, periodSeconds: 600 }],
        },
      },
    },
  };
}

/**
 * Nodes as a StatefulSet behind a headless service, a gateway that finds them by it, and a feature
 * process that keeps the behaviours. Needs an image of this repository, the secret
 * `tessera-access` (tokens.json, peer.token; docs/operate/security.md), and a Redis and a bucket
 * for the cluster's log.
 */
export function kubernetesManifests(nodes: number): string {
  const items = [
    service(NODES, { clusterIP: 'None' }),
    stateful(
      NODES,
      'standalone',
      nodes,
      [
        ...LOG,
        value('TESSERA_BEHAVIOURS_STORE', 'remote'),
        value('TESSERA_BEHAVIOURS_REMOTE', `${FEATURE}:50051`),
      ],
      '100Gi',
    ),
    budget(NODES),
    autoscaler(nodes),
    service(FEATURE),
    stateful(
      FEATURE,
      'feature',
      1,
      [...LOG, value('TESSERA_BEHAVIOURS_RETRIEVAL', `${GATEWAY}:50051`)],
      '50Gi',
    ),
    service(GATEWAY),
    // It keeps who changed what over it, so it has a disk.
    stateful(
      GATEWAY,
      'gateway',
      1,
      [
        value('TESSERA_CLUSTER_DNS', NODES),
        value('TESSERA_CLUSTER_BEHAVIOURS', `${FEATURE}:50051`),
      ],
      '1Gi',
    ),
  ];
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items }, null, 2);
}
