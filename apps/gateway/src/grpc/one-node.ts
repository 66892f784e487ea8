import type { ServerWritableStream, ServiceError } from '@grpc/grpc-js';
import { status } from '@grpc/grpc-js';
import type { Connection } from '@tessera/client';
import { ERROR_TRAILERS, TesseraError } from '@tessera/errors';
import { CostEstimates, partitionOf } from '@tessera/routing';
import { type Asking, type Failure, failureOfCode, noNode } from '../asking.js';
import { NodeAway } from '../node-link.js';
import { hopMetadata } from './hop-metadata.js';
import type { UnaryHop } from './unary-hop.js';
import { textAt } from './wire-path.js';

/** Milliseconds of a deadline that the way back to the caller may take. */
const HOP_MS = 2;

const identity = (bytes: Buffer): Buffer => bytes;

function failureOf(thrown: unknown): Failure {
  if (thrown instanceof NodeAway) return 'away';
  const { code, metadata, details = '' } = thrown as ServiceError;
  const named = metadata?.get(ERROR_TRAILERS.code)[0]?.toString() ?? '';
  if (named !== '') return failureOfCode(named);
  const isBroken = code === status.INTERNAL && details.includes('RST_STREAM');
  return code === status.UNAVAILABLE || isBroken ? 'away' : 'final';
}

/** As the node has it, but for what gRPC says of this hop. */
export function deadlineOf(call: { getDeadline(): Date | number }): number {
  return Number(call.getDeadline()) - HOP_MS;
}

/** Calls that one node answers: the user's owner, or any. Messages pass as bytes. */
export class OneNodeCalls {
  constructor(
    private readonly asking: Asking,
    private readonly connection: Connection,
  ) {}

  /** `userAt`: where the message names its user; undefined: it is of no user. */
  unary(path: string, call: UnaryHop, userAt: readonly number[] | undefined): Promise<Buffer> {
    const user = userAt && textAt(call.request, userAt);
    return this.ask(path, call.request, call, user && partitionOf(user));
  }

  /** As unary(), for a message of the gateway's own making. */
  ask(path: string, bytes: Buffer, call: UnaryHop, partition: number | undefined): Promise<Buffer> {
    const metadata = hopMetadata(call.metadata, this.connection);
    const deadline = deadlineOf(call);
    let cancel: () => void = () => undefined;
    call.once('cancelled', () => cancel());
    const asked = {
      partition,
      kind: CostEstimates.kindOf(path, bytes.length),
      edge: 'grpc' as const,
      isOver: () => call.cancelled || Date.now() >= deadline,
      failureOf,
    };
    return this.asking.ask(asked, (link) =>
      link.unary(path, bytes, metadata, deadline, (ended) => {
        cancel = ended;
      }),
    );
  }

  /** Answers of one node, as they come. */
  stream(path: string, call: ServerWritableStream<Buffer, Buffer>): void {
    const chosen = this.asking.cluster.choose(undefined, new Set());
    if (chosen === undefined) throw noNode(this.asking.cluster);
    const { link } = chosen;
    const end = this.asking.cluster.begin(link, path);
    const answers = link.client.makeServerStreamRequest(
      path,
      identity,
      identity,
      call.request,
      hopMetadata(call.metadata, this.connection),
      { deadline: deadlineOf(call) },
    );
    call.once('cancelled', () => answers.cancel());
    answers.once('error', (error) => {
      end(false);
      call.destroy(error);
    });
    answers.once('end', () => end(false));
    answers.pipe(call as unknown as NodeJS.WritableStream);
  }
}

/** What a node, or the gateway, refused with; for callers. */
export function isServiceError(thrown: unknown): thrown is ServiceError {
  return !(thrown instanceof TesseraError) && typeof (thrown as ServiceError).code === 'number';
}
