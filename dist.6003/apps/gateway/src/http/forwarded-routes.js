import { answerError } from "../../../../libs/edge/hosting/src/index.js";
import { METHODS, methodAt } from "../../../../libs/edge/methods/src/index.js";
import { askBehaviours, isOfBehaviours } from "../behaviours-link.js";
import { checkLog, keyed } from "../grpc/one-change.js";
import { errorOf, NodeAway, Refused } from "../node-failure.js";
import { askNode, factsOf, hopOf } from "./http-hop.js";
import { askOwners } from "./owner-bodies.js";
import { rerankInParts } from "./rerank-parts.js";
const EMPTY = Buffer.alloc(0);
/** Routes that any node answers about its models; they are no methods. */ const TOLD = [
    '/v1/models',
    '/info'
];
const forward = ({ asking }, hop)=>askNode(asking, hop, factsOf(hop));
/** Parts to the nodes that score; what cannot be split is for one of them. */ const score = async (parts, hop)=>{
    const answer = await rerankInParts(parts.calls, hop);
    if (answer === undefined) return forward(parts, hop);
    return {
        status: 200,
        headers: {},
        body: Buffer.from(JSON.stringify(answer))
    };
};
const change = async (parts, hop)=>{
    checkLog(parts.asking.cluster);
    const { sent } = hop;
    return forward(parts, {
        ...hop,
        sent: {
            ...sent,
            headers: keyed(sent.headers)
        }
    });
};
/** Entries to the owners of their users; what cannot be cut is for one node. */ const toOwners = async (parts, hop)=>await askOwners(parts.asking, hop) ?? forward(parts, hop);
/** To the feature process, where one is named. */ const toFeatures = ({ behaviours }, { sent, deadlineMs, onCancelled: onBegun })=>askBehaviours(behaviours, {
        ...sent,
        deadlineMs,
        onBegun
    });
const OWN = {
    change,
    owners: toOwners
};
/** Bodies of other APIs are cut where their documents can be; the JSON of a method goes whole. */ function routesOf({ http, alike = [], routing }) {
    if (routing.to === 'node') return [];
    const own = OWN[routing.to] ?? forward;
    const others = routing.to === 'split' ? score : own;
    const routes = alike.map((path)=>[
            'POST',
            path,
            others
        ]);
    return http === undefined ? routes : [
        ...routes,
        [
            'POST',
            http,
            own
        ]
    ];
}
/** How each route is answered. */ const FORWARDS = [
    ...METHODS.flatMap(routesOf),
    ...TOLD.map((path)=>[
            'GET',
            path,
            forward
        ])
];
const tracedOf = ({ headers })=>({
        header: (name)=>headers[name]?.toString(),
        put: (own)=>void Object.assign(headers, own)
    });
/** Routes of a node: bodies and answers pass byte for byte. */ export async function serveForwarded(instance, parts) {
    // Of these routes alone: the gateway's own take JSON.
    await instance.register(async (scope)=>{
        scope.setErrorHandler((thrown, _request, reply)=>answerError(thrown, reply, parts.log));
        scope.removeAllContentTypeParsers();
        const asIs = {
            parseAs: 'buffer'
        };
        scope.addContentTypeParser('application/json', asIs, (_request, body, done)=>done(null, body));
        for (const [method, url, forwarded] of FORWARDS){
            const path = methodAt(url)?.path ?? url;
            const isFeatures = parts.behaviours !== undefined && isOfBehaviours(path);
            const act = isFeatures ? toFeatures : forwarded;
            const handler = async (request, reply)=>{
                // Fastify reads nothing where there is no content type: a node refuses that in its words.
                request.body ??= EMPTY;
                const asked = async ()=>act(parts, await hopOf(parts, url, request, reply));
                const answer = await parts.count(path, tracedOf(request), asked).catch((thrown)=>{
                    if (thrown instanceof Refused) return thrown.answer;
                    throw thrown instanceof NodeAway ? errorOf(thrown) : thrown;
                });
                const { 'content-type': type = 'application/json', 'retry-after': after } = answer.headers;
                reply.status(answer.status).header('content-type', type);
                if (after !== undefined) reply.header('retry-after', after);
                return reply.send(answer.body);
            };
            scope.route({
                method,
                url,
                handler
            });
        }
    });
}

//# sourceMappingURL=forwarded-routes.js.map