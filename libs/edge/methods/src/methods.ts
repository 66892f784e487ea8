/**
 * Every method of the service, one row each. A new unary method is a row here, its proto and its
 * handler: the gRPC server, HTTP/JSON, the OpenAPI document, the access check and the gateway read
 * the row.
 */

import type { AccessRule, Scope } from '@tessera/access';
import { BEHAVIOURS_PER_CALL_MAX, RECALLS_PER_CALL_MAX } from '@tessera/contracts';
import type { CallRole } from '@tessera/routing';

/** The queue of work whose forecast admits a call. */
export type Queue = 'decoder' | 'relevance' | 'embedding';

/**
 * How a gateway routes a call. Paths name fields of the request, `.` between messages.
 * - `user`: to the owner of the user named at `userAt`; `nodeAt` names the node that made the
 *   answer in question, where the request has one
 * - `any`: to any node
 * - `change`: to any node, which appends it to the cluster's log
 * - `owners`: the repeated field at `partsAt`, of `partsMax` entries at most, is cut by the owner
 *   of each entry's user, at `userAt`; the answer has a list with an entry for each, in which the
 *   field at `failureAt` says why that one failed; left out: the call fails as a whole
 * - `split`: the repeated field at `partsAt` is spread over the nodes by their work
 * - `node`: a gateway does not serve it; operators ask each node
 */
export type Routing =
  | { readonly to: 'user'; readonly userAt: string; readonly nodeAt?: string }
  | { readonly to: 'any' | 'change' | 'node' }
  | {
      readonly to: 'owners';
      readonly partsAt: string;
      readonly partsMax: number;
      readonly userAt: string;
      readonly failureAt?: string;
    }
  | { readonly to: 'split'; readonly partsAt: string };

export interface Method {
  /** Path on the wire: `/tessera.recall.v1.RecallService/Recall`. */
  readonly path: string;
  /** POST route that takes the request as proto3 JSON; left out: gRPC alone. */
  readonly http?: string;
  /** Further POST routes that ask the same in the JSON of other APIs. */
  readonly alike?: readonly string[];
  /** Scope that the caller needs, and the name in audits of a method that changes something. */
  readonly access: AccessRule;
  readonly routing: Routing;
  /** Nodes that a gateway asks first: those that append ahead of recalls, or those that answer. */
  readonly role: CallRole;
  /** Queue that admits the call before its message is read; left out: always served. */
  readonly queue?: Queue;
}

type Options = Omit<Method, 'path' | 'access' | 'routing' | 'role'> & {
  readonly role?: CallRole;
  readonly audit?: string;
};

function method(
  path: string,
  scope: Scope | 'open',
  routing: Routing,
  { audit, role = 'answer', ...options }: Options = {},
): Method {
  const access: AccessRule = {
    need: scope === 'open' ? 'open' : { scope },
    ...(audit !== undefined && { action: audit }),
  };
  return { path, access, routing, role, ...options };
}

const user = (userAt: string): Routing => ({ to: 'user', userAt });
const any: Routing = { to: 'any' };
const change: Routing = { to: 'change' };
const node: Routing = { to: 'node' };

const recall = '/tessera.recall.v1.RecallService';
const score = '/tessera.score.v1.ScoreService';
const ranking = '/tessera.ranking.v1.RankingService';
const explain = '/tessera.explain.v1.ExplainService';
const relevance = '/tessera.relevance.v1.RelevanceService';
const embedding = '/tessera.embedding.v1.EmbeddingService';
const behaviour = '/tessera.behaviour.v1.BehaviourService';
const catalogue = '/tessera.catalogue.v1.CatalogueService';
const kv = '/tessera.kv.v1.KvPoolService';
const adapter = '/tessera.adapter.v1.AdapterService';
const weights = '/tessera.weights.v1.WeightsService';
const health = '/grpc.health.v1.Health';
const reflection = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo';
const reflectionAlpha = '/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo';

const explained: Routing = {
  to: 'user',
  userAt: 'request.userId',
  nodeAt: 'versions.node',
};
const recalls: Routing = {
  to: 'owners',
  partsAt: 'recalls',
  partsMax: RECALLS_PER_CALL_MAX,
  userAt: 'userId',
  failureAt: 'failure',
};
const behaviours: Routing = {
  to: 'owners',
  partsAt: 'behaviours',
  partsMax: BEHAVIOURS_PER_CALL_MAX,
  userAt: 'userId',
};
const reranks = ['/rerank', '/v1/rerank', '/v2/rerank'];
const embeds = ['/v1/embeddings', '/embed', '/'];
const applies = { audit: 'apply-changes' };
const updates = { audit: 'update-weights' };

export const METHODS: readonly Method[] = [
  method(`${recall}/Recall`, 'recall', user('userId'), { http: '/v1/recall', queue: 'decoder' }),
  method(`${recall}/RecallBatch`, 'recall', recalls, {
    http: '/v1/recall/batch',
    queue: 'decoder',
  }),
  method(`${recall}/Estimate`, 'recall', user('userId'), { http: '/v1/estimate' }),
  method(`${score}/Score`, 'recall', user('userId'), { http: '/v1/score', queue: 'decoder' }),
  method(`${ranking}/Rank`, 'recall', user('userId'), { http: '/v1/rank', queue: 'decoder' }),
  method(`${explain}/Explain`, 'recall', explained, { http: '/v1/explain' }),
  method(
    `${relevance}/Score`,
    'recall',
    { to: 'split', partsAt: 'documents' },
    { alike: reranks, queue: 'relevance' },
  ),
  method(`${embedding}/Embed`, 'embed', any, { alike: embeds, queue: 'embedding' }),
  method(`${behaviour}/Append`, 'behaviour:write', behaviours, {
    http: '/v1/behaviours/append',
    audit: 'append-behaviours',
    // The node that takes behaviours computes what they add to their user's prompt.
    role: 'append',
  }),
  method(`${behaviour}/PutProfile`, 'behaviour:write', user('userId'), {
    http: '/v1/behaviours/put-profile',
    audit: 'put-profile',
  }),
  method(`${behaviour}/History`, 'behaviour:read', user('userId'), {
    http: '/v1/behaviours/history',
  }),
  method(`${behaviour}/Erase`, 'behaviour:erase', change, {
    http: '/v1/behaviours/erase',
    audit: 'erase-user',
  }),
  method(`${catalogue}/Apply`, 'catalogue:write', change, {
    http: '/v1/catalogue/apply',
    ...applies,
  }),
  method(`${catalogue}/ApplyStream`, 'catalogue:write', change, applies),
  method(`${catalogue}/ApplyBatch`, 'catalogue:write', change, applies),
  method(`${catalogue}/Compact`, 'catalogue:write', any, { audit: 'compact-catalogue' }),
  method(`${catalogue}/RollBack`, 'catalogue:write', change, { audit: 'roll-back-catalogue' }),
  method(`${catalogue}/Quantise`, 'catalogue:read', any, { http: '/v1/sid' }),
  method(`${catalogue}/GetState`, 'catalogue:read', any),
  method(`${catalogue}/ListItems`, 'catalogue:read', any),
  method(`${catalogue}/ListVersions`, 'catalogue:read', any),
  method(`${kv}/Inspect`, 'kv', user('userId'), { http: '/v1/kv/inspect' }),
  method(`${kv}/DropUser`, 'kv', change, { http: '/v1/kv/drop-user', audit: 'drop-user' }),
  method(`${kv}/DropVersion`, 'kv', change, {
    http: '/v1/kv/drop-version',
    audit: 'drop-version',
  }),
  method(`${kv}/CheckIntegrity`, 'kv', node, { http: '/v1/kv/check-integrity' }),
  method(`${kv}/Append`, 'kv', user('userId'), { http: '/v1/kv/append', role: 'append' }),
  method(`${adapter}/Push`, 'push', change, { audit: 'push' }),
  method(`${adapter}/List`, 'adapter:read', any),
  method(`${adapter}/Get`, 'adapter:read', any),
  method(`${adapter}/Activate`, 'activate', change, { audit: 'activate' }),
  method(`${adapter}/Rollback`, 'activate', change, { audit: 'rollback' }),
  method(`${adapter}/Pin`, 'activate', change, { audit: 'pin' }),
  method(`${adapter}/Unpin`, 'activate', change, { audit: 'unpin' }),
  method(`${adapter}/Delete`, 'activate', change, { audit: 'delete' }),
  method(`${weights}/Update`, 'weights:write', change, updates),
  method(`${weights}/Rollback`, 'weights:write', change, updates),
  method(`${weights}/Get`, 'weights:read', any),
  // Answered by the server itself, at each process.
  method(`${health}/Check`, 'open', node),
  method(`${health}/List`, 'open', node),
  method(`${health}/Watch`, 'open', node),
  method(reflection, 'reflection', node),
  method(reflectionAlpha, 'reflection', node),
];

const byPath = new Map(METHODS.map((row) => [row.path, row]));
const byRoute = new Map(
  METHODS.flatMap((row) =>
    [row.http, ...(row.alike ?? [])].flatMap((route) =>
      route === undefined ? [] : [[route, row] as const],
    ),
  ),
);

/** Name of a method's rpc in the protos: `tessera.recall.v1.RecallService.Recall`. */
export const rpcOf = (path: string): string => path.slice(1).replace('/', '.');

/** The row of a path on the wire; undefined: the service has no such method. */
export function methodOf(path: string): Method | undefined {
  return byPath.get(path);
}

/** Nodes that a method is for; of what is no method those that answer. */
export function roleOf(path: string): CallRole {
  return methodOf(path)?.role ?? 'answer';
}

/** The row that a POST route asks; undefined: the route is no method's. */
export function methodAt(route: string): Method | undefined {
  return byRoute.get(route);
}
