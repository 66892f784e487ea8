import { peerConnection } from '@tessera/client';
import type { Config } from '@tessera/config';
import {
  host,
  type OperationsOptions,
  ProcessAccess,
  ServedVersions,
  type Serving,
  STEP_BUDGET_MS,
} from '@tessera/hosting';
import { Readiness } from '@tessera/lifecycle';
import type { Membership } from '@tessera/routing';
import { type Log, Metrics } from '@tessera/telemetry';
import { Asking, ForwardCounts } from './asking.js';
import { Cluster } from './cluster.js';
import { openErasures } from './erasure-parts.js';
import { GatewayModule } from './gateway.module.js';
import { EveryNodeCalls } from './grpc/every-node.js';
import {
  addForwarded,
  directForwarded,
  forwardedServices,
  statusOf,
} from './grpc/forwarded-services.js';
import { GatewayCalls } from './grpc/gateway-calls.js';
import { serveForwarded } from './http/forwarded-routes.js';
import type { KeptErasures } from './kept-erasures.js';
import { membershipOf } from './membership.js';
import { NodeHealth } from './node-health.js';
import { NodeLink } from './node-link.js';

/** Answers that are still to be written. */
const ANSWERS_BUDGET_MS = 10_000;

export interface ServeParts {
  readonly config: Config;
  readonly log: Log;
  readonly serviceVersion: string;
}

/** A gateway that serves, and its cluster. */
export interface ServingGateway extends Serving {
  readonly cluster: Cluster;
}

function addConditions(
  { conditions }: Readiness,
  cluster: Cluster,
  membership: Membership,
  erasures: KeptErasures,
): void {
  conditions.add({
    name: 'nodes',
    kind: 'dependency',
    isNeeded: true,
    read: () => {
      const links = cluster.links();
      const away = links.filter(({ state }) => state !== 'up');
      if (links.length > 0 && away.length === 0) return { state: 'ok', reason: '' };
      const state = away.length < links.length ? 'degraded' : 'down';
      const named = away.map(({ member, state: is, reason }) => `${member.name} ${is}: ${reason}`);
      return { state, reason: links.length === 0 ? 'no nodes' : named.join('; ') };
    },
  });
  conditions.add({
    name: 'membership',
    kind: 'dependency',
    isNeeded: false,
    read: () => membership.reading(),
  });
  conditions.add({
    name: 'erasures',
    kind: 'store',
    isNeeded: false,
    read: () => {
      const count = erasures.pendingCount;
      if (count === 0) return { state: 'ok', reason: '' };
      return { state: 'degraded', reason: `${count} erasures wait for nodes that are away` };
    },
  });
}

function metricsOf(
  { conditions }: Readiness,
  access: ProcessAccess,
  cluster: Cluster,
  counts: ForwardCounts,
  erasures: KeptErasures,
): Metrics {
  const metrics = new Metrics();
  metrics.showConditions(() => conditions.all());
  metrics.showAccess(() => access.counts());
  metrics.showCluster(() => ({
    forwarded: [...counts.forwarded.values()],
    retries: counts.retries,
    nodes: cluster.links().map(({ member: { name }, state }) => {
      const outstandingUs = cluster.outstandingUs(name);
      return { name, state, outstandingUs };
    }),
    revision: cluster.table.revision,
    pendingErasures: erasures.pendingCount,
  }));
  return metrics;
}

function behavioursLink({ cluster: { behaviours } }: Config, connection: NodeLink['connection']) {
  if (behaviours === '') return undefined;
  const member = { name: 'behaviours', grpc: behaviours, http: behaviours, weight: 1 };
  return new NodeLink(member, connection);
}

/** Joins the members, asks each once how it is, and goes on doing so. */
async function follow(
  membership: Membership,
  cluster: Cluster,
  onNames: (names: readonly string[]) => void,
): Promise<NodeHealth> {
  const health = new NodeHealth(cluster);
  let asked = Promise.resolve();
  await membership.start((members) => {
    cluster.setMembers(members);
    onNames(members.map(({ name }) => name));
    asked = health.round();
  });
  await asked;
  // Who has not answered once may be busy; twice, it is away.
  if (cluster.links().some(({ state }) => state === 'unknown')) await health.round();
  health.start();
  return health;
}

interface Opened {
  readonly membership: Membership;
  readonly health: NodeHealth;
  readonly erasures: KeptErasures;
  readonly behaviours: NodeLink | undefined;
  readonly cluster: Cluster;
  readonly access: ProcessAccess;
}

function closing({ membership, health, erasures, behaviours, cluster, access }: Opened) {
  return async () => {
    membership.close();
    health.close();
    await erasures.close();
    behaviours?.close();
    cluster.close();
    await access.close();
  };
}

/** A gateway before the nodes of one cluster; ready while one of them takes requests. */
export async function serve({ config, log, serviceVersion }: ServeParts): Promise<ServingGateway> {
  const membership = membershipOf(config);
  const connection = peerConnection(config.peer);
  const access = await ProcessAccess.open(config, config.access.auditPath, log);
  const readiness = new Readiness();
  const cluster = new Cluster(connection, log);
  const { erasures, holders } = await openErasures(config.cluster.path, cluster, log);
  const health = await follow(membership, cluster, (names) => holders.add(names));
  erasures.start();
  const counts = new ForwardCounts();
  const asking = new Asking(cluster, counts);
  const behaviours = behavioursLink(config, connection);
  const every = new EveryNodeCalls(cluster, connection);
  const calls = new GatewayCalls({ asking, every, connection, erasures, behaviours });
  addConditions(readiness, cluster, membership, erasures);
  const metrics = metricsOf(readiness, access, cluster, counts, erasures);
  const versions = new ServedVersions({ service: serviceVersion, node: config.node.name });
  const operations: OperationsOptions = { readiness, metrics, versions, log };
  const close = closing({ membership, health, erasures, behaviours, cluster, access });
  try {
    const hosted = await host({
      module: GatewayModule.register(operations, cluster),
      http: config.http,
      grpc: config.grpc,
      services: {},
      forwarded: {
        names: forwardedServices(),
        addTo: (server) => addForwarded(server, calls, log),
        direct: directForwarded(calls),
        statusOf: (thrown) => statusOf(thrown, log),
      },
      readiness,
      access,
      log,
      prepare: (app) =>
        serveForwarded(app.getHttpAdapter().getInstance(), {
          asking,
          every,
          connection,
          log,
          timeoutMs: config.recall.deadlineMsMax,
        }),
    });
    const { drainMs } = config.shutdown;
    const serving = hosted.serving([
      ...hosted.leaving(drainMs),
      hosted.edgesClosed(drainMs + ANSWERS_BUDGET_MS),
      { name: 'nodes left', budgetMs: STEP_BUDGET_MS, act: close },
    ]);
    return {
      httpUrl: serving.httpUrl,
      grpcAddress: serving.grpcAddress,
      drain: serving.drain,
      cluster,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
