/**
 * Every method of the service, one row each. A new unary method is a row here, its proto and its
 * handler: the gRPC server, HTTP/JSON, the OpenAPI document, the access check and the gateway read
 * the row.
 */ import { BEHAVIOURS_PER_CALL_MAX, RECALLS_PER_CALL_MAX } from "../../../ops/contracts/src/index.js";
function method(path, scope, routing, { audit, role = 'answer', ...options } = {}) {
    const access = {
        need: scope === 'open' ? 'open' : {
            scope
        },
        ...audit !== undefined && {
            action: audit
        }
    };
    return {
        path,
        access,
        routing,
        role,
        ...options
    };
}
const user = (userAt)=>({
        to: 'user',
        userAt
    });
const any = {
    to: 'any'
};
const change = {
    to: 'change'
};
const node = {
    to: 'node'
};
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
const explained = {
    to: 'user',
    userAt: 'request.userId',
    nodeAt: 'versions.node'
};
const recalls = {
    to: 'owners',
    partsAt: 'recalls',
    partsMax: RECALLS_PER_CALL_MAX,
    userAt: 'userId',
    failureAt: 'failure'
};
const behaviours = {
    to: 'owners',
    partsAt: 'behaviours',
    partsMax: BEHAVIOURS_PER_CALL_MAX,
    userAt: 'userId'
};
const reranks = [
    '/rerank',
    '/v1/rerank',
    '/v2/rerank'
];
const embeds = [
    '/v1/embeddings',
    '/embed',
    '/'
];
const applies = {
    audit: 'apply-changes'
};
const updates = {
    audit: 'update-weights'
};
export const METHODS = [
    method(`${recall}/Recall`, 'recall', user('userId'), {
        http: '/v1/recall',
        queue: 'decoder'
    }),
    method(`${recall}/RecallBatch`, 'recall', recalls, {
        http: '/v1/recall/batch',
        queue: 'decoder'
    }),
    method(`${recall}/Estimate`, 'recall', user('userId'), {
        http: '/v1/estimate'
    }),
    method(`${score}/Score`, 'recall', user('userId'), {
        http: '/v1/score',
        queue: 'decoder'
    }),
    method(`${ranking}/Rank`, 'recall', user('userId'), {
        http: '/v1/rank',
        queue: 'decoder'
    }),
    method(`${explain}/Explain`, 'recall', explained, {
        http: '/v1/explain'
    }),
    method(`${relevance}/Score`, 'recall', {
        to: 'split',
        partsAt: 'documents'
    }, {
        alike: reranks,
        queue: 'relevance'
    }),
    method(`${embedding}/Embed`, 'embed', any, {
        alike: embeds,
        queue: 'embedding'
    }),
    method(`${behaviour}/Append`, 'behaviour:write', behaviours, {
        http: '/v1/behaviours/append',
        audit: 'append-behaviours',
        // The node that takes behaviours computes what they add to their user's prompt.
        role: 'append'
    }),
    method(`${behaviour}/PutProfile`, 'behaviour:write', user('userId'), {
        http: '/v1/behaviours/put-profile',
        audit: 'put-profile'
    }),
    method(`${behaviour}/History`, 'behaviour:read', user('userId'), {
        http: '/v1/behaviours/history'
    }),
    method(`${behaviour}/Erase`, 'behaviour:erase', change, {
        http: '/v1/behaviours/erase',
        audit: 'erase-user'
    }),
    method(`${catalogue}/Apply`, 'catalogue:write', change, {
        http: '/v1/catalogue/apply',
        ...applies
    }),
    method(`${catalogue}/ApplyStream`, 'catalogue:write', change, applies),
    method(`${catalogue}/ApplyBatch`, 'catalogue:write', change, applies),
    method(`${catalogue}/Compact`, 'catalogue:write', any, {
        audit: 'compact-catalogue'
    }),
    method(`${catalogue}/RollBack`, 'catalogue:write', change, {
        audit: 'roll-back-catalogue'
    }),
    method(`${catalogue}/Quantise`, 'catalogue:read', any, {
        http: '/v1/sid'
    }),
    method(`${catalogue}/GetState`, 'catalogue:read', any),
    method(`${catalogue}/ListItems`, 'catalogue:read', any),
    method(`${catalogue}/ListVersions`, 'catalogue:read', any),
    method(`${kv}/Inspect`, 'kv', user('userId'), {
        http: '/v1/kv/inspect'
    }),
    method(`${kv}/DropUser`, 'kv', change, {
        http: '/v1/kv/drop-user',
        audit: 'drop-user'
    }),
    method(`${kv}/DropVersion`, 'kv', change, {
        http: '/v1/kv/drop-version',
        audit: 'drop-version'
    }),
    method(`${kv}/CheckIntegrity`, 'kv', node, {
        http: '/v1/kv/check-integrity'
    }),
    method(`${kv}/Append`, 'kv', user('userId'), {
        http: '/v1/kv/append',
        role: 'append'
    }),
    method(`${adapter}/Push`, 'push', change, {
        audit: 'push'
    }),
    method(`${adapter}/List`, 'adapter:read', any),
    method(`${adapter}/Get`, 'adapter:read', any),
    method(`${adapter}/Activate`, 'activate', change, {
        audit: 'activate'
    }),
    method(`${adapter}/Rollback`, 'activate', change, {
        audit: 'rollback'
    }),
    method(`${adapter}/Pin`, 'activate', change, {
        audit: 'pin'
    }),
    method(`${adapter}/Unpin`, 'activate', change, {
        audit: 'unpin'
    }),
    method(`${adapter}/Delete`, 'activate', change, {
        audit: 'delete'
    }),
    method(`${weights}/Update`, 'weights:write', change, updates),
    method(`${weights}/Rollback`, 'weights:write', change, updates),
    method(`${weights}/Get`, 'weights:read', any),
    // Answered by the server itself, at each process.
    method(`${health}/Check`, 'open', node),
    method(`${health}/List`, 'open', node),
    method(`${health}/Watch`, 'open', node),
    method(reflection, 'reflection', node),
    method(reflectionAlpha, 'reflection', node)
];
const byPath = new Map(METHODS.map((row)=>[
        row.path,
        row
    ]));
const byRoute = new Map(METHODS.flatMap((row)=>[
        row.http,
        ...row.alike ?? []
    ].flatMap((route)=>route === undefined ? [] : [
            [
                route,
                row
            ]
        ])));
/** Name of a method's rpc in the protos: `tessera.recall.v1.RecallService.Recall`. */ export const rpcOf = (path)=>path.slice(1).replace('/', '.');
/** The row of a path on the wire; undefined: the service has no such method. */ export function methodOf(path) {
    return byPath.get(path);
}
/** Nodes that a method is for; of what is no method those that answer. */ export function roleOf(path) {
    return methodOf(path)?.role ?? 'answer';
}
/** The row that a POST route asks; undefined: the route is no method's. */ export function methodAt(route) {
    return byRoute.get(route);
}

//# sourceMappingURL=methods.js.map