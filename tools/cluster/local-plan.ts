import { join } from 'node:path';
import { CONFIG_KEYS, type Config } from '@tessera/config';

/** Processes that `npm run cluster` starts on this machine. Ports count from the gateway's. */
export interface LocalClusterOptions {
  readonly nodes: number;
  /** Further nodes, which only append, so that the others only answer; left out: none. */
  readonly append?: number;
  readonly httpPort: number;
  readonly grpcPort: number;
  /** Holds a folder per process. */
  readonly folder: string;
  /** HOST:PORT of the one that keeps the log; '': one is started. */
  readonly etcd: string;
  readonly kafka: string;
  /** Keeps behaviours; '': a feature process does. */
  readonly redis: string;
  /** A Redis is started for keys and values that all nodes use. */
  readonly isShared: boolean;
}

export interface LocalProcess {
  readonly name: string;
  readonly main: string;
  readonly folder: string;
  readonly httpPort: number;
  readonly grpcPort: number;
  readonly variables: Readonly<Record<string, string>>;
}

const HOST = '127.0.0.1';
/** The gateway on 50051, the first node on 50061. */
const NODE_GRPC_STEP = 9;
/** Behind the greatest number of nodes, so that their ports follow the gateway's. */
const FEATURE_PORT_STEP = 100;
const ETCD_PORT_STEP = 110;
const SHARED_PORT_STEP = 111;

/** Every folder of a store, within the process's own. */
function folders(folder: string): Record<string, string> {
  const stores = CONFIG_KEYS.filter(({ storeName }) => storeName !== undefined);
  return Object.fromEntries(
    stores.map(({ variable, storeName }) => [variable, join(folder, storeName ?? '')]),
  );
}

/** A share of the machine: each process takes what one alone would take, parted. */
function shares({ engine, kv, relevance }: Config, nodes: number): Record<string, string> {
  const part = (whole: number, least: number) => String(Math.max(least, Math.floor(whole / nodes)));
  return {
    TESSERA_ENGINE_THREAD_COUNT: part(engine.threadCount, 1),
    // Pinned threads of several processes would stand on the same cores.
    TESSERA_ENGINE_KV_BYTES_MAX: part(engine.kvBytesMax, 2 ** 20),
    TESSERA_RELEVANCE_KV_BYTES_MAX: part(relevance.kvBytesMax, 2 ** 20),
    TESSERA_KV_DEVICE_BYTES: part(kv.deviceBytes, 2 ** 20),
    TESSERA_KV_HOST_BYTES: part(kv.hostBytes, 0),
    TESSERA_KV_DISK_BYTES: part(kv.diskBytes, 0),
  };
}

function processOf(
  { httpPort, grpcPort, folder, kafka }: LocalClusterOptions,
  name: string,
  app: string,
  step: number,
  variables: Record<string, string>,
): LocalProcess {
  const own = join(folder, name);
  const grpcStep = app === 'standalone' ? NODE_GRPC_STEP + step : step;
  const [ownHttp, ownGrpc] = [httpPort + step, grpcPort + grpcStep];
  const entries = Object.entries({
    TESSERA_NODE_NAME: name,
    TESSERA_HTTP_PORT: String(ownHttp),
    TESSERA_GRPC_PORT: String(ownGrpc),
    TESSERA_KAFKA_BROKERS: kafka,
    // Requests, and behaviours where Redis keeps them, are for the owner of their user.
    TESSERA_KAFKA_SHARED_TOPICS: app === 'standalone' ? 'gateway' : 'here',
  });
  const all = [...entries, ...Object.entries(folders(own)), ...Object.entries(variables)];
  return {
    name,
    main: `dist/apps/${app}/src/main.js`,
    folder: own,
    httpPort: ownHttp,
    grpcPort: ownGrpc,
    variables: Object.fromEntries(all),
  };
}

/** Port of the etcd that is started for the log; that of its peers is 2 behind it. */
export const etcdPortOf = ({ httpPort }: LocalClusterOptions) => httpPort + ETCD_PORT_STEP;

/** HOST:PORT of the etcd of the cluster. */
const etcdOf = (options: LocalClusterOptions) => options.etcd || `${HOST}:${etcdPortOf(options)}`;

/** Port of the Redis that is started for keys and values. */
export const sharedPortOf = ({ httpPort }: LocalClusterOptions) => httpPort + SHARED_PORT_STEP;

/** Folder of what is too large for the log. */
export const logStoreOf = ({ folder }: LocalClusterOptions) => join(folder, 'log-store');

/** The log that decides what all nodes serve. */
function logVariables(options: LocalClusterOptions): Record<string, string> {
  return {
    TESSERA_CLUSTER_ETCD: etcdOf(options),
    TESSERA_CLUSTER_LOG_STORE: logStoreOf(options),
  };
}

/** The processes in the order in which they start; the gateway is the last. */
export function localPlan(options: LocalClusterOptions, config: Config): readonly LocalProcess[] {
  const { nodes: answering, append: appending = 0, httpPort, grpcPort, redis } = options;
  const count = answering + appending;
  const featureGrpc = `${HOST}:${grpcPort + FEATURE_PORT_STEP}`;
  const featureHttp = `${HOST}:${httpPort + FEATURE_PORT_STEP}`;
  const store: Record<string, string> =
    redis === ''
      ? { TESSERA_BEHAVIOURS_STORE: 'remote', TESSERA_BEHAVIOURS_REMOTE: featureGrpc }
      : { TESSERA_BEHAVIOURS_STORE: 'redis', TESSERA_BEHAVIOURS_REDIS: redis };
  const log = logVariables(options);
  const shared = `redis://${HOST}:${sharedPortOf(options)}`;
  const roleAt = (at: number) => (at < answering ? 'answer' : 'append');
  const roles = Array.from({ length: count }, (_, at) => (appending === 0 ? 'both' : roleAt(at)));
  const nodes = roles.map((role, at) =>
    processOf(
      options,
      role === 'append' ? `append-${at + 1 - answering}` : `node-${at + 1}`,
      'standalone',
      at + 1,
      Object.assign(shares(config, count), store, log, {
        TESSERA_CLUSTER_ROLE: role,
        TESSERA_CONSOLE_GATEWAY: `${HOST}:${httpPort}`,
        ...(options.isShared && { TESSERA_KV_SHARED: shared }),
      }),
    ),
  );
  const members = nodes.map(({ name, grpcPort: grpc, httpPort: http }, at) => {
    const role = roles[at] === 'both' ? '' : `@${roles[at]}`;
    return `${name}=${HOST}:${grpc}/${HOST}:${http}${role}`;
  });
  const gateway = processOf(options, 'gateway', 'gateway', 0, {
    // One that was named knows the nodes; the own one keeps the log.
    TESSERA_CLUSTER_NODES: options.etcd === '' ? members.join() : '',
    TESSERA_CLUSTER_ETCD: options.etcd,
    TESSERA_CLUSTER_BEHAVIOURS: redis === '' ? `${featureGrpc}/${featureHttp}` : '',
  });
  if (redis !== '') return [...nodes, gateway];
  const feature = processOf(options, 'feature', 'feature', FEATURE_PORT_STEP, {
    ...log,
    TESSERA_BEHAVIOURS_STORE: 'embedded',
    // The gateway knows which node follows a user.
    TESSERA_BEHAVIOURS_RETRIEVAL: `${HOST}:${grpcPort}`,
  });
  return [feature, ...nodes, gateway];
}
