import type { IncomingHttpHeaders } from 'node:http';
import type { Connection } from '@tessera/client';
import { parseJsonBody } from '@tessera/hosting';
import { methodAt } from '@tessera/methods';
import { CostEstimates, partitionOf } from '@tessera/routing';
import type { Log } from '@tessera/telemetry';
import type { FastifyReply } from 'fastify';
import type { Asked, Asking } from '../asking.js';
import type { HttpAnswer, HttpAsk, NodeLink } from '../node-link.js';
import { type Fields, passedFields, withToken } from '../passed-fields.js';
import type { SplitCalls } from '../relevance/split-calls.js';
import { checkAnswer, failureOf } from './node-answer.js';

export interface HttpForwarding {
  readonly asking: Asking;
  readonly calls: SplitCalls;
  readonly connection: Connection;
  /** A feature process; undefined: the nodes answer calls about behaviours. */
  readonly behaviours: NodeLink | undefined;
  readonly log: Pick<Log, 'error'>;
  /** Milliseconds that a node may take. */
  readonly timeoutMs: number;
}

/** Facts that routing needs of a request. */
export type HopFacts = Pick<Asked, 'partition' | 'role' | 'node' | 'leftMs'>;

/** The text at a path of names, `.` between them; an ID may be an integer. */
function textAt(body: unknown, path: string): string | undefined {
  let value = body;
  for (const name of path.split('.')) value = (value as Record<string, unknown> | null)?.[name];
  if (Number.isSafeInteger(value)) return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Of the user at a path of names; undefined: there is none. */
export function partitionAt(body: unknown, path: string): number | undefined {
  const user = textAt(body, path);
  return user === undefined ? undefined : partitionOf(user);
}

/** Milliseconds that a body gives; Infinity: it names none, or what the node will refuse. */
export function leftMsIn(body: unknown): number {
  const { deadlineMs } = (body ?? {}) as { readonly deadlineMs?: unknown };
  const isTimed = typeof deadlineMs === 'number' && deadlineMs > 0;
  return isTimed ? deadlineMs : Number.POSITIVE_INFINITY;
}

/** Of a body that names a user. */
export async function factsOf(body: Buffer, path: string): Promise<HopFacts> {
  const method = methodAt(path);
  const role = method?.role ?? 'answer';
  // The JSON of other APIs names no user.
  if (method?.routing.to !== 'user' || method.http !== path) {
    return { partition: undefined, role, node: undefined, leftMs: Number.POSITIVE_INFINITY };
  }
  const { userAt, nodeAt } = method.routing;
  const parsed = await parseJsonBody(body);
  const node = nodeAt === undefined ? undefined : textAt(parsed, nodeAt);
  return { partition: partitionAt(parsed, userAt), role, node, leftMs: leftMsIn(parsed) };
}

export function passedHeaders(headers: IncomingHttpHeaders, connection: Connection): Fields {
  const passed = passedFields((name) => headers[name]);
  return Object.assign({ 'content-type': 'application/json' }, withToken(passed, connection));
}

/** Runs `act` once the caller has gone without an answer. */
export function onGone({ raw }: FastifyReply, act: () => void): void {
  raw.once('close', () => {
    if (!raw.writableFinished) act();
  });
}

/** A request of the caller's, or of the gateway's own making, to the node that it is for. */
export function askNode(
  { asking, timeoutMs }: Pick<HttpForwarding, 'asking' | 'timeoutMs'>,
  sent: Pick<HttpAsk, 'method' | 'path' | 'headers' | 'body'>,
  facts: HopFacts,
  reply: FastifyReply,
): Promise<HttpAnswer> {
  let end: () => void = () => undefined;
  onGone(reply, () => end());
  const asked = {
    ...facts,
    kind: CostEstimates.kindOf(sent.path, sent.body?.length ?? 0),
    edge: 'http' as const,
    isOver: () => reply.raw.destroyed,
    failureOf,
  };
  const onBegun = (ended: () => void) => {
    end = ended;
  };
  return asking.ask(asked, async (link) =>
    checkAnswer(await link.http({ ...sent, timeoutMs, onBegun })),
  );
}
