import { TesseraError } from '@tessera/errors';
import type { Readiness } from '@tessera/lifecycle';
import type {
  ExplainAnswer,
  ExplainRequest,
  RecallAnswer,
  RecallContext,
  RecallRequest,
  RecallRuntime,
  ScoreAnswer,
  ScoreRequest,
} from '@tessera/recall';
import type { Edge, Log, Metrics } from '@tessera/telemetry';
import type { Audited } from './audited.js';

const MICROSECONDS_PER_MILLISECOND = 1000;
const MILLISECONDS_PER_SECOND = 1000;

/** A request as an edge parsed it, with the time the caller gives it. */
export interface Parsed<Request> {
  readonly request: Request;
  /** Milliseconds from the body; undefined where the caller said nothing. */
  readonly deadlineMs: number | undefined;
}

export interface EdgeCall {
  readonly edge: Edge;
  readonly signal: AbortSignal;
  /** Microseconds left by the transport's own deadline; Infinity where it has none. */
  readonly budgetUs: number;
}

export interface EdgeLimits {
  readonly defaultDeadlineMs: number;
  readonly deadlineMsMax: number;
}

export interface EdgeParts {
  readonly runtime: Pick<RecallRuntime, 'recall' | 'score' | 'explain'>;
  readonly readiness: Readiness;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly limits: EdgeLimits;
  /** Told every recall that was understood; left out: nobody is. */
  readonly onRecall?: ((audited: Audited) => void) | undefined;
}

/** The shorter of what transport and body allow; the default where both are silent. */
export function budgetOf(
  call: EdgeCall,
  deadlineMs: number | undefined,
  limits: EdgeLimits,
): number {
  if (deadlineMs !== undefined && deadlineMs > limits.deadlineMsMax) {
    const expected = `expected 1..${limits.deadlineMsMax}, came ${deadlineMs}`;
    throw new TesseraError('REQUEST_INVALID', `deadlineMs: ${expected}`, { field: 'deadlineMs' });
  }
  if (deadlineMs !== undefined && deadlineMs <= 0) {
    const message = `deadlineMs: expected 1..${limits.deadlineMsMax}, came ${deadlineMs}`;
    throw new TesseraError('DEADLINE_EXCEEDED', message, { field: 'deadlineMs' });
  }
  const silent = deadlineMs === undefined && call.budgetUs === Number.POSITIVE_INFINITY;
  const bodyMs = silent ? limits.defaultDeadlineMs : (deadlineMs ?? limits.deadlineMsMax);
  return Math.min(call.budgetUs, bodyMs * MICROSECONDS_PER_MILLISECOND);
}

/** What `parse` refuses, told as of a member of `field`. */
export function inside<Value>(field: string, parse: () => Value): Value {
  try {
    return parse();
  } catch (thrown) {
    const error = TesseraError.from(thrown);
    const path = error.field === undefined ? field : `${field}.${error.field}`;
    const message = `${field}.${error.message}`;
    throw new TesseraError(error.code, message, { field: path, cause: thrown });
  }
}

/** What both edges do with a parsed request: admit, ask the runtime, count. */
export class RecallEdge {
  constructor(private readonly parts: EdgeParts) {}

  /** `parse` may throw; its refusals are counted like any other. */
  async recall(parse: () => Parsed<RecallRequest>, call: EdgeCall): Promise<RecallAnswer> {
    const { metrics, runtime } = this.parts;
    const { edge } = call;
    const seconds = stopwatch();
    try {
      const answer = await this.admitted(parse, call, (request, context) =>
        this.audited(edge, request, () => runtime.recall(request, context)),
      );
      const { timings: stagesUs, short } = answer;
      this.parts.log.debug({ edge, requestId: answer.requestId, ...stagesUs }, 'a recall');
      metrics.observe({ edge, code: 'OK', seconds: seconds(), stagesUs: { ...stagesUs }, short });
      return answer;
    } catch (thrown) {
      const error = this.failed(thrown, edge, 'a recall failed');
      metrics.observe({ edge, code: error.code, seconds: seconds() });
      throw error;
    }
  }

  /** As recall(). */
  async score(parse: () => Parsed<ScoreRequest>, call: EdgeCall): Promise<ScoreAnswer> {
    const { metrics, runtime } = this.parts;
    const { edge } = call;
    const seconds = stopwatch();
    try {
      const answer = await this.admitted(parse, call, (request, context) =>
        runtime.score(request, context),
      );
      this.parts.log.debug({ edge, requestId: answer.requestId, ...answer.timings }, 'a score');
      metrics.observeScore({ edge, code: 'OK', seconds: seconds() });
      return answer;
    } catch (thrown) {
      const error = this.failed(thrown, edge, 'a score failed');
      metrics.observeScore({ edge, code: error.code, seconds: seconds() });
      throw error;
    }
  }

  /** As recall(). */
  async explain(parse: () => Parsed<ExplainRequest>, call: EdgeCall): Promise<ExplainAnswer> {
    const { metrics, runtime } = this.parts;
    const { edge } = call;
    const seconds = stopwatch();
    try {
      const answer = await this.admitted(parse, call, (request, context) =>
        runtime.explain(request, context),
      );
      metrics.observeExplain({ edge, code: 'OK', seconds: seconds() });
      return answer;
    } catch (thrown) {
      const error = this.failed(thrown, edge, 'an explanation failed');
      metrics.observeExplain({ edge, code: error.code, seconds: seconds() });
      throw error;
    }
  }

  private async audited(
    edge: Edge,
    request: RecallRequest,
    ask: () => Promise<RecallAnswer>,
  ): Promise<RecallAnswer> {
    const { onRecall } = this.parts;
    if (onRecall === undefined) return ask();
    try {
      const answer = await ask();
      onRecall({ edge, request, outcome: answer, traceId: '' });
      return answer;
    } catch (thrown) {
      onRecall({ edge, request, outcome: TesseraError.from(thrown), traceId: '' });
      throw thrown;
    }
  }

  private failed(thrown: unknown, edge: string, message: string): TesseraError {
    const error = TesseraError.from(thrown);
    if (error.code === 'INTERNAL') this.parts.log.error({ err: thrown, edge }, message);
    return error;
  }

  private admitted<Request, Answer>(
    parse: () => Parsed<Request>,
    call: EdgeCall,
    ask: (request: Request, context: RecallContext) => Promise<Answer>,
  ): Promise<Answer> {
    const { readiness, limits } = this.parts;
    if (!readiness.ready) {
      throw new TesseraError('ENGINE_UNAVAILABLE', `the service is ${readiness.state}`);
    }
    const { request, deadlineMs } = parse();
    const budgetUs = budgetOf(call, deadlineMs, limits);
    return ask(request, { signal: call.signal, budgetUs });
  }
}

/** Seconds since it was made. */
function stopwatch(): () => number {
  const started = performance.now();
  return () => (performance.now() - started) / MILLISECONDS_PER_SECOND;
}
