import { peerConnection } from '@tessera/client';
import type { Config } from '@tessera/config';
import {
  host,
  type OperationsOptions,
  ProcessAccess,
  ServedVersions,
  type Serving,
  STEP_BUDGET_MS,
  watchTracing,
} from '@tessera/hosting';
import { closing, Drain, Readiness } from '@tessera/lifecycle';
import type { Membership } from '@tessera/routing';
import {
  type Edge,
  type Log,
  Metrics,
  NO_TRACING,
  openTracing,
  type Tracing,
} from '@tessera/telemetry';
import { AdmittedCalls } from './admitted-calls.js';
import { Asking, ForwardCounts } from './asking.js';
import { behavioursLink } from './behaviours-link.js';
import { Cluster } from './cluster.js';
import { counting } from './counted.js';
import { GatewayModule } from './gateway.module.js';
import { addForwarded, forwardedServices } from './grpc/forwarded-services.js';
import { GatewayCalls } from './grpc/gateway-calls.js';
import { OneNodeCalls } from './grpc/one-node.js';
import { serveForwarded } from './http/forwarded-routes.js';
import { type GatewayTopics, gatewayTopics } from './kafka/gateway-topics.js';
import { membershipOf, nodesWanted } from './membership.js';
import { NodeHealth } from './node-health.js';
import type { NodeLink } from './node-link.js';
import { addConditions, showGateway } from './observed.js';
import { isWorker } from './processes.js';
import { SplitCalls } from './relevance/split-calls.js';

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

/** Joins the members, asks each once how it is, and goes on doing so. */
async function follow(membership: Membership, cluster: Cluster): Promise<NodeHealth> {
  const health = new NodeHealth(cluster);
  let asked = Promise.resolve();
  await membership.start(async (members) => {
    cluster.setMembers(members);
    asked = health.round();
  });
  await asked;
  await health.untilSure();
  health.start();
  return health;
}

interface Opened {
  readonly membership: Membership;
  readonly health: NodeHealth;
  readonly behaviours: NodeLink | undefined;
  readonly cluster: Cluster;
  readonly access: ProcessAccess;
  readonly topics: GatewayTopics | undefined;
  readonly tracing: Tracing;
}

function closesOf({ membership, health, behaviours, cluster, access, topics, tracing }: Opened) {
  return closing(STEP_BUDGET_MS, {
    membership: () => membership.close(),
    health: () => health.close(),
    topics: topics && (() => topics.producer.close()),
    behaviours: behaviours && (() => behaviours.close()),
    cluster: () => cluster.close(),
    access: () => access.close(),
    tracing: () => tracing.close(),
  });
}

interface Watched {
  readonly metrics: Metrics;
  readonly tracing: Tracing;
}

async function watched({ config, log, serviceVersion: version }: ServeParts): Promise<Watched> {
  const metrics = new Metrics();
  metrics.showBuild({ version, app: 'gateway' });
  const service = { serviceName: 'tessera-gateway', serviceVersion: version };
  return { metrics, tracing: await openTracing(Object.assign(service, config.tracing), log) };
}

/** All that answers calls, over every edge. */
function answering(
  { config, log }: ServeParts,
  { cluster, behaviours }: Pick<Opened, 'cluster' | 'behaviours'>,
  connection: NodeLink['connection'],
  { metrics, tracing }: Watched,
) {
  const counts = new ForwardCounts();
  const admitted = new AdmittedCalls(config.recall);
  const asking = new Asking(cluster, counts);
  const split = new SplitCalls(cluster, counts);
  const calls = new GatewayCalls({ asking, split, connection, behaviours });
  const { deadlineMsMax } = config.recall;
  const observe = metrics.countForwarded();
  const countOf = (edge: Edge) => counting(observe, edge, tracing);
  return {
    counts,
    admissions: admitted.admissions,
    split,
    fromTopics: {
      one: new OneNodeCalls(asking, connection, 'kafka'),
      count: countOf('kafka'),
    },
    overHttp: {
      asking,
      calls: split,
      admitted,
      connection,
      behaviours,
      log,
      deadlineMsMax,
      count: countOf('http'),
    },
    overGrpc: {
      names: forwardedServices(),
      addTo: (server: Parameters<typeof addForwarded>[0]) =>
        addForwarded(server, { calls, admitted, count: countOf('grpc'), log }),
    },
  };
}

/** A gateway before the nodes of one cluster; ready while one of them takes requests. */
export async function serve(parts: ServeParts): Promise<ServingGateway> {
  const { config, log, serviceVersion } = parts;
  const connection = peerConnection(config.peer);
  const access = await ProcessAccess.open(config, config.access.auditPath, log);
  const readiness = new Readiness();
  const cluster = new Cluster(connection, log);
  const membership = membershipOf(config, (address) => cluster.ownerOf(address));
  const health = await follow(membership, cluster);
  const behaviours = behavioursLink(config.cluster.behaviours, connection);
  const { metrics, tracing } = await watched(parts);
  const opened = { cluster, behaviours };
  const { counts, split, admissions, ...edges } = answering(parts, opened, connection, {
    metrics,
    tracing,
  });
  addConditions(readiness, cluster, membership);
  const { conditions } = readiness;
  if (tracing !== NO_TRACING) watchTracing(tracing, conditions, metrics);
  const topics = await gatewayTopics(config, { ...edges.fromTopics, cluster }, conditions, log);
  const tallies = { counts, split: split.tally, wanted: nodesWanted(config) };
  showGateway(metrics, readiness, access, cluster, tallies);
  if (topics !== undefined) metrics.showTopicLag(() => topics.server.lag());
  const versions = new ServedVersions({ service: serviceVersion, node: config.node.name });
  if (isWorker) metrics.tellOfWorkers();
  const operations: OperationsOptions = { readiness, metrics, versions, log };
  const closes = closesOf({ membership, health, behaviours, cluster, access, topics, tracing });
  try {
    const hosted = await host({
      module: () => GatewayModule.register(operations, cluster, topics),
      http: { ...config.http, ...config.edge },
      grpc: { ...config.grpc, ...config.edge },
      limits: config.recall,
      admissions,
      forwarded: edges.overGrpc,
      topicServer: topics?.server,
      readiness,
      access,
      metrics,
      peer: config.peer,
      log,
      prepare: (app, httpCalls) =>
        serveForwarded(app.getHttpAdapter().getInstance(), edges.overHttp, httpCalls),
    });
    const { drainMs } = config.shutdown;
    const { httpUrl, grpcAddress, drain } = hosted.serving([
      ...hosted.leaving(config.shutdown),
      hosted.edgesClosed(drainMs + ANSWERS_BUDGET_MS),
      ...closes,
    ]);
    return { httpUrl, grpcAddress, drain, cluster };
  } catch (error) {
    await new Drain(closes, () => undefined).run();
    throw error;
  }
}
