import type { Connection } from '@tessera/client';
import { parseJsonBody } from '@tessera/hosting';
import { idIn, memberOf, numberIn } from '@tessera/httpjson';
import { methodAt } from '@tessera/methods';
import { CostEstimates, partitionOf } from '@tessera/routing';
import type { Log } from '@tessera/telemetry';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AdmittedCalls } from '../admitted-calls.js';
import type { Asked, Asking } from '../asking.js';
import type { Counted } from '../counted.js';
import { deadlineNamed } from '../grpc/forwarded-methods.js';
import { checkAnswer, type HttpAnswer } from '../node-failure.js';
import type { HttpAsk, NodeLink } from '../node-link.js';
import { type Fields, passedFields, withToken } from '../passed-fields.js';
import type { SplitCalls } from '../relevance/split-calls.js';

export interface HttpForwarding {
  readonly asking: Asking;
  readonly calls: SplitCalls;
  readonly admitted: Pick<AdmittedCalls, 'run'>;
  readonly connection: Connection;
  /** A feature process; undefined: the nodes answer calls about behaviours. */
  readonly behaviours: NodeLink | undefined;
  readonly log: Pick<Log, 'error'>;
  readonly count: Counted;
  /** Milliseconds of a request whose body names no time, and of any. */
  readonly deadlineMsMax: number;
}

/** A request over HTTP as the gateway needs it; what UnaryHop is of gRPC. */
export interface HttpHop {
  readonly sent: Pick<HttpAsk, 'method' | 'path' | 'body'> & { readonly headers: Fields };
  /** Its body; undefined: nothing is read of it. */
  readonly json: unknown;
  /** Until the caller has an answer, milliseconds since 1970. */
  readonly deadlineMs: number;
  readonly isOver: () => boolean;
  /** Runs `act` once the caller has gone without an answer. */
  readonly onCancelled: (act: () => void) => void;
}

/** Facts that routing needs of a request. */
export type HopFacts = Pick<Asked, 'partition' | 'role' | 'node'>;

function valueAt(body: unknown, path: string): unknown {
  let value = body;
  for (const name of path.split('.')) value = memberOf(value, name);
  return value;
}

/** The text at a path of names, `.` between them; an ID may be an integer. */
export function textAt(body: unknown, path: string): string | undefined {
  const value = idIn(valueAt(body, path));
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Partition of the user at a path of names; undefined: there is none. */
export function partitionAt(body: unknown, path: string): number | undefined {
  const user = textAt(body, path);
  return user === undefined ? undefined : partitionOf(user);
}

/** Milliseconds that a body gives; Infinity: it names none, or what the node will refuse. */
function leftMsIn(path: string, body: unknown): number {
  const method = methodAt(path);
  const named = method?.http === path ? deadlineNamed(method.path) : 'deadlineMs';
  const leftMs = named === undefined ? undefined : numberIn(valueAt(body, named));
  return typeof leftMs === 'number' && leftMs > 0 ? leftMs : Number.POSITIVE_INFINITY;
}

/** True for routes of whose bodies something is read: a user, entries or a time. */
function isRead(path: string): boolean {
  const method = methodAt(path);
  const to = method?.routing.to;
  const isRouted = to === 'user' || to === 'owners' || to === 'split';
  return isRouted || deadlineNamed(method?.path ?? '') !== undefined;
}

export async function hopOf(
  { connection, deadlineMsMax }: HttpForwarding,
  path: string,
  { method, headers, body: given }: FastifyRequest,
  { raw }: FastifyReply,
): Promise<HttpHop> {
  const arrivedMs = Date.now();
  const body = method === 'GET' ? undefined : (given as Buffer);
  const json = body !== undefined && isRead(path) ? await parseJsonBody(body) : undefined;
  const deadlineMs = arrivedMs + Math.min(leftMsIn(path, json), deadlineMsMax);
  const passed = withToken(
    passedFields((name) => headers[name]),
    connection,
  );
  return {
    sent: {
      method,
      path,
      headers: Object.assign({ 'content-type': 'application/json' }, passed),
      body,
    },
    json,
    deadlineMs,
    isOver: () => raw.destroyed || Date.now() >= deadlineMs,
    onCancelled: (act) => {
      raw.once('close', () => {
        if (!raw.writableFinished) act();
      });
    },
  };
}

/** Facts of a body that names a user. The JSON of other APIs names none. */
export function factsOf({ sent: { path }, json }: HttpHop): HopFacts {
  const method = methodAt(path);
  const role = method?.role ?? 'answer';
  if (method?.routing.to !== 'user' || method.http !== path) {
    return { partition: undefined, role, node: undefined };
  }
  const { userAt, nodeAt } = method.routing;
  const node = nodeAt === undefined ? undefined : textAt(json, nodeAt);
  return { partition: partitionAt(json, userAt), role, node };
}

/** A request of the caller's, or of the gateway's own making, to the node that it is for. */
export function askNode(
  asking: Asking,
  { sent, deadlineMs, isOver, onCancelled }: HttpHop,
  facts: HopFacts,
): Promise<HttpAnswer> {
  let end: () => void = () => undefined;
  onCancelled(() => end());
  const kind = CostEstimates.kindOf(sent.path, sent.body?.length ?? 0);
  const isChange = methodAt(sent.path)?.routing.to === 'change';
  const asked = { ...facts, kind, edge: 'http' as const, deadlineMs, isOver, isChange };
  const onBegun = (ended: () => void) => {
    end = ended;
  };
  return asking.ask(asked, async (link, untilMs) =>
    checkAnswer(await link.http({ ...sent, deadlineMs: untilMs, onBegun })),
  );
}
