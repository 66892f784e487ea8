import { answerError, type HttpCalls, refuseQuery } from '@tessera/hosting';
import { memberOf } from '@tessera/httpjson';
import { METHODS, type Method, methodAt, type Routing } from '@tessera/methods';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { classIn } from '../admitted-calls.js';
import { askBehaviours, isOfBehaviours } from '../behaviours-link.js';
import type { TracedCall } from '../counted.js';
import { checkLog, keyed } from '../grpc/one-change.js';
import { errorOf, type HttpAnswer, NodeAway, Refused } from '../node-failure.js';
import type { NodeLink } from '../node-link.js';
import { askNode, factsOf, type HttpForwarding, type HttpHop, hopOf } from './http-hop.js';
import { askOwners } from './owner-bodies.js';
import { rerankInParts } from './rerank-parts.js';

const EMPTY = Buffer.alloc(0);

/** Routes that any node answers about its models; they are no methods. */
const TOLD = ['/v1/models', '/info'];

type Forward = (parts: HttpForwarding, hop: HttpHop) => Promise<HttpAnswer>;

const forward: Forward = ({ asking }, hop) => askNode(asking, hop, factsOf(hop));

/** Parts to the nodes that score; what cannot be split is for one of them. */
const score: Forward = async (parts, hop) => {
  const answer = await rerankInParts(parts.calls, hop);
  if (answer === undefined) return forward(parts, hop);
  return { status: 200, headers: {}, body: Buffer.from(JSON.stringify(answer)) };
};

const change: Forward = async (parts, hop) => {
  checkLog(parts.asking.cluster);
  const { sent } = hop;
  return forward(parts, { ...hop, sent: { ...sent, headers: keyed(sent.headers) } });
};

/** Entries to the owners of their users; what cannot be cut is for one node. */
const toOwners: Forward = async (parts, hop) =>
  (await askOwners(parts.asking, hop)) ?? forward(parts, hop);

/** To the feature process, where one is named. */
const toFeatures: Forward = ({ behaviours }, { sent, deadlineMs, onCancelled: onBegun }) =>
  askBehaviours(behaviours as NodeLink, { ...sent, deadlineMs, onBegun });

const OWN: Readonly<Partial<Record<Routing['to'], Forward>>> = { change, owners: toOwners };

/** Bodies of other APIs are cut where their documents can be; the JSON of a method goes whole. */
function routesOf({ http, alike = [], routing }: Method) {
  if (routing.to === 'node') return [];
  const own = OWN[routing.to] ?? forward;
  const others = routing.to === 'split' ? score : own;
  const routes = alike.map((path) => ['POST', path, others] as const);
  return http === undefined ? routes : [...routes, ['POST', http, own] as const];
}

/** How each route is answered. */
const FORWARDS: readonly (readonly [method: 'GET' | 'POST', path: string, forward: Forward])[] = [
  ...METHODS.flatMap(routesOf),
  ...TOLD.map((path) => ['GET', path, forward] as const),
];

const tracedOf = ({ headers }: FastifyRequest): TracedCall => ({
  header: (name) => headers[name]?.toString(),
  put: (own) => void Object.assign(headers, own),
});

/**
 * Routes of a node: bodies and answers pass byte for byte.
 * @param calls told of requests that are refused for those before them
 */
export async function serveForwarded(
  instance: FastifyInstance,
  parts: HttpForwarding,
  calls: Pick<HttpCalls, 'refused'>,
): Promise<void> {
  // Of these routes alone: the gateway's own take JSON.
  await instance.register(async (scope) => {
    scope.setErrorHandler((thrown, _request, reply) => answerError(thrown, reply, parts.log));
    scope.removeAllContentTypeParsers();
    const asIs = { parseAs: 'buffer' } as const;
    scope.addContentTypeParser('application/json', asIs, (_request, body, done) =>
      done(null, body),
    );
    for (const [verb, url, forwarded] of FORWARDS) {
      const method = methodAt(url);
      const path = method?.path ?? url;
      const isFeatures = parts.behaviours !== undefined && isOfBehaviours(path);
      const act = isFeatures ? toFeatures : forwarded;
      const handler = async (request: FastifyRequest, reply: FastifyReply) => {
        // Fastify reads nothing where there is no content type: a node refuses that in its words.
        request.body ??= EMPTY;
        const asked = async () => {
          if (method?.http === url) refuseQuery(request);
          const hop = await hopOf(parts, url, request, reply);
          const { deadlineMs, json } = hop;
          const cls = classIn(memberOf(json, 'priority'));
          const isGone = () => reply.raw.destroyed;
          return parts.admitted.run(path, { cls, deadlineMs, isGone }, () => act(parts, hop));
        };
        const answer = await parts
          .count(path, tracedOf(request), asked)
          .catch((thrown: unknown) => {
            const { code } = errorOf(thrown);
            if (code === 'ENGINE_OVERLOADED') calls.refused(reply);
            if (thrown instanceof Refused) return thrown.answer;
            throw thrown instanceof NodeAway ? errorOf(thrown) : thrown;
          });
        const { 'content-type': type = 'application/json', 'retry-after': after } = answer.headers;
        reply.status(answer.status).header('content-type', type);
        if (after !== undefined) reply.header('retry-after', after);
        return reply.send(answer.body);
      };
      scope.route({ method: verb, url, handler });
    }
  });
}
