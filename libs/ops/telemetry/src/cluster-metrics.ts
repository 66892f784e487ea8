/** Metrics of a gateway. */

import { Counter, Gauge, type Registry } from 'prom-client';
import { CODES_FROM_START, EDGES, LATENCY_BUCKETS, type Observation } from './answered.js';
import { combined, copyCount, TalliedCounter, TalliedHistogram } from './tallies.js';

export const CLUSTER_METRICS = {
  gatewayRequests: {
    name: 'tessera_gateway_requests_total',
    meaning:
      'requests as the callers of a gateway were answered, by edge (grpc, http, kafka), method ' +
      '(RecallService/Recall and so on) and code (OK or a code of docs/operate/errors.md)',
  },
  gatewayLatency: {
    name: 'tessera_gateway_latency_seconds',
    meaning: 'seconds from request to answer at a gateway, by edge and method',
  },
  clusterForwarded: {
    name: 'tessera_cluster_forwarded_total',
    meaning:
      'requests forwarded by a gateway, by edge (grpc, http, kafka) and reason for the node ' +
      '(owner, owner-away, owner-loaded, role-missing, no-user, named)',
  },
  clusterRetries: {
    name: 'tessera_cluster_retries_total',
    meaning: 'requests repeated on a further node after one was away or refused',
  },
  clusterRefusedAhead: {
    name: 'tessera_cluster_refused_ahead_total',
    meaning: 'requests refused by a gateway because no node could meet the deadline',
  },
  clusterNodes: {
    name: 'tessera_cluster_nodes',
    meaning:
      'member nodes by state (unknown, up, draining, down, different: another model, log ' +
      'position or name)',
  },
  clusterNodesWanted: {
    name: 'tessera_cluster_nodes_wanted',
    meaning:
      'nodes that a gateway should have (cluster.nodes, cluster.nodesWanted); no sample: unknown',
  },
  clusterRevision: {
    name: 'tessera_cluster_revision',
    meaning: 'revision of the routing table',
  },
  clusterOutstanding: {
    name: 'tessera_cluster_outstanding_seconds',
    meaning: 'predicted seconds of outstanding work, as known to the gateway, by node',
  },
} as const;

/** Counts as a gateway reports them. */
export interface ClusterCounts {
  readonly forwarded: readonly { readonly edge: string; readonly reason: string; count: number }[];
  readonly retries: number;
  readonly refusedAhead: number;
  readonly nodes: readonly {
    readonly name: string;
    readonly state: string;
    readonly outstandingUs: number;
  }[];
  /** Undefined: unknown. */
  readonly wanted: number | undefined;
  readonly revision: number;
}

export interface ForwardedObservation extends Observation {
  /** `RecallService/Recall`. */
  readonly method: string;
}

/** Methods of the objectives. */
const OBJECTIVES = ['RecallService/Recall', 'RecallService/RecallBatch'];
const STATES = ['unknown', 'up', 'draining', 'down', 'different'];
const REASONS = ['owner', 'owner-away', 'owner-loaded', 'role-missing', 'no-user', 'named'];

export function countForwarded(registry: Registry): (seen: ForwardedObservation) => void {
  const { gatewayRequests, gatewayLatency } = CLUSTER_METRICS;
  const start = combined(EDGES, OBJECTIVES, CODES_FROM_START);
  const labels = ['edge', 'method'];
  const requests = new TalliedCounter(registry, gatewayRequests, [...labels, 'code'], start);
  const latency = new TalliedHistogram(registry, gatewayLatency, labels, LATENCY_BUCKETS);
  return ({ edge, method, code, seconds }) => {
    requests.count(edge, method, code);
    latency.observe(seconds, edge, method);
  };
}

const US_PER_SECOND = 1_000_000;

export function registerClusterMetrics(registry: Registry, read: () => ClusterCounts): void {
  const registers = [registry];
  const described = ({ name, meaning: help }: { name: string; meaning: string }) => ({
    name,
    help,
    registers,
  });
  new Counter({
    ...described(CLUSTER_METRICS.clusterForwarded),
    labelNames: ['edge', 'reason'],
    collect() {
      this.reset();
      for (const [edge = '', reason = ''] of combined(EDGES, REASONS))
        this.inc({ edge, reason }, 0);
      for (const { edge, reason, count } of read().forwarded) this.inc({ edge, reason }, count);
    },
  });
  copyCount(registry, CLUSTER_METRICS.clusterRetries, () => read().retries);
  copyCount(registry, CLUSTER_METRICS.clusterRefusedAhead, () => read().refusedAhead);
  new Gauge({
    ...described(CLUSTER_METRICS.clusterNodes),
    labelNames: ['state'],
    collect() {
      for (const state of STATES) this.set({ state }, 0);
      for (const { state } of read().nodes) this.inc({ state });
    },
  });
  new Gauge({
    ...described(CLUSTER_METRICS.clusterNodesWanted),
    labelNames: [],
    collect() {
      const { wanted } = read();
      if (wanted === undefined) this.reset();
      else this.set(wanted);
    },
  });
  new Gauge({
    ...described(CLUSTER_METRICS.clusterRevision),
    collect() {
      this.set(read().revision);
    },
  });
  new Gauge({
    ...described(CLUSTER_METRICS.clusterOutstanding),
    labelNames: ['node'],
    collect() {
      this.reset();
      for (const { name: node, outstandingUs } of read().nodes) {
        this.set({ node }, outstandingUs / US_PER_SECOND);
      }
    },
  });
}
