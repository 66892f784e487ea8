import { isErrorCode, TesseraError } from '@tessera/errors';
import { type Failure, failureOfCode } from '@tessera/routing';
import { type HttpAnswer, NodeAway } from '../node-link.js';

const FIRST_FAILED_STATUS = 400;

interface ErrorOfNode {
  readonly code?: string;
  readonly message?: string;
  readonly field?: string;
  readonly retryAfterMs?: number;
}

/** A node's refusal, which another node may not make. */
export class Refused extends Error {
  constructor(
    readonly answer: HttpAnswer,
    readonly failure: Failure,
  ) {
    super(errorIn(answer)?.message ?? `HTTP ${answer.status}`);
  }
}

/** Code and hint of a node's refusal; undefined: the answer is no refusal of a node. */
function errorIn({ body }: HttpAnswer): ErrorOfNode | undefined {
  try {
    return (JSON.parse(body.toString()) as { error?: ErrorOfNode }).error;
  } catch {
    return undefined;
  }
}

/** @throws Refused where the node answered with a failure */
export function checkAnswer(answer: HttpAnswer): HttpAnswer {
  if (answer.status < FIRST_FAILED_STATUS) return answer;
  const error = errorIn(answer);
  throw new Refused(answer, error === undefined ? 'final' : failureOfCode(error.code ?? ''));
}

/** Tells from the end of a request whether another node may be asked. */
export function failureOf(thrown: unknown): Failure {
  if (thrown instanceof Refused) return thrown.failure;
  return thrown instanceof NodeAway ? 'away' : 'final';
}

/** The error of the one table for a request that a node, or the way to it, ended. */
export function errorOf(thrown: unknown): TesseraError {
  if (thrown instanceof NodeAway) return new TesseraError('NODE_UNAVAILABLE', thrown.message);
  if (!(thrown instanceof Refused)) return TesseraError.from(thrown);
  const { code = '', field, retryAfterMs } = errorIn(thrown.answer) ?? {};
  const options = { field, retryAfterMs, cause: thrown };
  return new TesseraError(isErrorCode(code) ? code : 'NODE_UNAVAILABLE', thrown.message, options);
}
