/** How calls to nodes fail over each edge: may another node be asked, what is answered. */

import { type Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { type ErrorCode, isErrorCode, TesseraError, trailedError } from '@tessera/errors';
import { type Failure, failureOfCall, failureOfCode } from '@tessera/routing';

/** Answer of a node's HTTP edge. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** A node that did not answer, though it may not have failed for good. */
export class NodeAway extends Error {}

/** The status with which a node ended a call over gRPC; as grpc-js has it. */
export class NodeRefusal extends Error {
  constructor(
    /** Status of gRPC. */
    readonly code: number,
    readonly details: string,
    readonly metadata: Metadata,
  ) {
    super(details);
  }
}

interface ErrorOfNode {
  readonly code?: string;
  readonly message?: string;
  readonly field?: string;
  readonly retryAfterMs?: number;
}

/** A node's refusal over HTTP. */
export class Refused extends Error {
  /** Undefined: the answer is no refusal of a node. */
  readonly error: ErrorOfNode | undefined;

  constructor(readonly answer: HttpAnswer) {
    super();
    try {
      this.error = (JSON.parse(answer.body.toString()) as { error?: ErrorOfNode }).error;
    } catch {
      this.error = undefined;
    }
    this.message = this.error?.message ?? `HTTP ${answer.status}`;
  }
}

const FIRST_FAILED_STATUS = 400;

/** @throws Refused where the node answered with a failure */
export function checkAnswer(answer: HttpAnswer): HttpAnswer {
  if (answer.status < FIRST_FAILED_STATUS) return answer;
  throw new Refused(answer);
}

/** The refusal of a node over gRPC, as it came. */
export function isServiceError(thrown: unknown): thrown is ServiceError {
  return !(thrown instanceof TesseraError) && typeof (thrown as ServiceError).code === 'number';
}

/** Tells from the end of a call whether another node may be asked; as failureOfCode. */
export function failureOf(thrown: unknown, isChange = false): Failure {
  if (thrown instanceof NodeAway) return 'away';
  if (isServiceError(thrown)) return failureOfCall(thrown, isChange);
  if (thrown instanceof TesseraError) return failureOfCode(thrown.code, isChange);
  if (!(thrown instanceof Refused) || thrown.error === undefined) return 'final';
  return failureOfCode(thrown.error.code ?? '', isChange);
}

/** Code for a gRPC status that came without a node's word. */
const CODES: ReadonlyMap<number, ErrorCode> = new Map([
  [status.DEADLINE_EXCEEDED, 'DEADLINE_EXCEEDED'],
  [status.CANCELLED, 'CANCELLED'],
]);

/** The error of the one table for a call that a node, or the way to it, ended. */
export function errorOf(thrown: unknown): TesseraError {
  if (thrown instanceof NodeAway) return new TesseraError('NODE_UNAVAILABLE', thrown.message);
  if (isServiceError(thrown)) {
    return trailedError({
      message: thrown.details,
      trailer: (name) => thrown.metadata.get(name)[0]?.toString(),
      fallback: CODES.get(thrown.code) ?? 'NODE_UNAVAILABLE',
    });
  }
  if (!(thrown instanceof Refused)) return TesseraError.from(thrown);
  const { code = '', field, retryAfterMs } = thrown.error ?? {};
  const options = { field, retryAfterMs, cause: thrown };
  return new TesseraError(isErrorCode(code) ? code : 'NODE_UNAVAILABLE', thrown.message, options);
}
