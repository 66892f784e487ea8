import type { AdmissionSlot, EdgeAdmission, LoopWait, PriorityClass } from '@tessera/admission';
import { type Cancellation, TesseraError } from '@tessera/errors';
import type { Readiness } from '@tessera/lifecycle';
import type {
  ExplainAnswer,
  ExplainRequest,
  PromptFacts,
  RecallAnswer,
  RecallContext,
  RecallFacts,
  RecallRequest,
  RecallServing,
  ScoreAnswer,
  ScoreRequest,
} from '@tessera/recall';
import type { RelevanceScorer } from '@tessera/relevance';
import type { Carrier, Edge, Log, Metrics, Observation, Tracing } from '@tessera/telemetry';
import { MICROSECONDS_PER_MILLISECOND, MILLISECONDS_PER_SECOND } from '@tessera/units';
import type { Audited } from './audited.js';
import { inTime } from './in-time.js';
import { recallSpans } from './recall-spans.js';
import { recallThroughGate } from './relevance-gate.js';

/** A request as an edge parsed it, with the time the caller gives it. */
export interface Parsed<Request> {
  readonly request: Request;
  /** Milliseconds from the body; undefined where the caller said nothing. */
  readonly deadlineMs: number | undefined;
}

export interface EdgeCall {
  readonly edge: Edge;
  readonly signal: Cancellation;
  /** Microseconds left by the transport's own deadline; Infinity where it has none. */
  readonly budgetUs: number;
  /** The caller's trace. */
  readonly caller: Carrier;
  /** Its place in admission, which its owner gives back; left out: it is judged here. */
  readonly slot?: AdmissionSlot | undefined;
}

export interface EdgeLimits {
  readonly defaultDeadlineMs: number;
  readonly deadlineMsMax: number;
}

/** Admission of calls before anything is computed for them. */
export interface Admission {
  readonly edge: EdgeAdmission;
  readonly loop: LoopWait;
}

export interface EdgeParts {
  /** Answers recalls, and may record them. */
  readonly recalls: Pick<RecallServing, 'recall'>;
  readonly serving: Pick<RecallServing, 'score' | 'explain'>;
  /** Scores texts for the gates of recalls; left out: no model does. */
  readonly relevance?: Pick<RelevanceScorer, 'score' | 'itemText' | 'checkAdapter'> | undefined;
  readonly facts: Pick<RecallFacts, 'describe'>;
  readonly readiness: Readiness;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly limits: EdgeLimits;
  readonly tracing: Tracing;
  /** Judges the calls that no gate has judged; left out: every call is served. */
  readonly admission?: Admission | undefined;
  /** Called with every recall that was understood; left out: nothing is called. */
  readonly onRecall?: ((audited: Audited) => void) | undefined;
}

/** The shorter of what transport and body allow; the default where both are silent. */
export function budgetOf(
  call: Pick<EdgeCall, 'budgetUs'>,
  deadlineMs: number | undefined,
  limits: EdgeLimits,
): number {
  if (deadlineMs !== undefined && (deadlineMs > limits.deadlineMsMax || deadlineMs < 1)) {
    const expected = `expected 1..${limits.deadlineMsMax}, got ${deadlineMs}`;
    throw new TesseraError('REQUEST_INVALID', `deadlineMs: ${expected}`, { field: 'deadlineMs' });
  }
  const silent = deadlineMs === undefined && call.budgetUs === Number.POSITIVE_INFINITY;
  const bodyMs = silent ? limits.defaultDeadlineMs : (deadlineMs ?? limits.deadlineMsMax);
  return Math.min(call.budgetUs, bodyMs * MICROSECONDS_PER_MILLISECOND);
}

/** Runs `parse`; its refusals name a member of `field`. */
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

/** One kind of request: what it is called, who answers it, who counts it. */
interface Kind<Request, Answer> {
  readonly name: 'recall' | 'score' | 'explain';
  readonly ask: (request: Request, context: RecallContext) => Promise<Answer>;
  readonly observe: (seen: Observation, answer?: Answer) => void;
  /** Told what was asked and how it ended. */
  readonly tell?: (request: Request, outcome: Answer | TesseraError, traceId: string) => void;
}

/** Admits, answers, counts and traces a parsed request, for all edges. */
export class RecallEdge {
  constructor(private readonly parts: EdgeParts) {}

  /** `parse` may throw; its refusals are counted like any other. */
  recall(parse: () => Parsed<RecallRequest>, call: EdgeCall): Promise<RecallAnswer> {
    const { metrics, recalls, relevance, facts, onRecall } = this.parts;
    const recall = (request: RecallRequest, context: RecallContext) =>
      recalls.recall(request, context);
    const { edge } = call;
    return this.serve(parse, call, {
      name: 'recall',
      ask: (request, context) => recallThroughGate({ recall, relevance, facts }, request, context),
      observe: (seen, answer) =>
        metrics.observe(
          answer === undefined
            ? seen
            : {
                ...seen,
                stagesUs: { ...answer.timings },
                short: answer.short,
                caps: answer.capsOutcome,
                ...(answer.fallback !== 'popular' && { searched: answer }),
              },
        ),
      ...(onRecall && {
        tell: (request, outcome, traceId) => onRecall({ edge, request, outcome, traceId }),
      }),
    });
  }

  /** As recall(). */
  score(parse: () => Parsed<ScoreRequest>, call: EdgeCall): Promise<ScoreAnswer> {
    const { metrics, serving } = this.parts;
    return this.serve(parse, call, {
      name: 'score',
      ask: (request, context) => serving.score(request, context),
      observe: (seen) => metrics.observeScore(seen),
    });
  }

  /** As recall(). */
  explain(parse: () => Parsed<ExplainRequest>, call: EdgeCall): Promise<ExplainAnswer> {
    const { metrics, serving } = this.parts;
    return this.serve(parse, call, {
      name: 'explain',
      ask: (request, context) => serving.explain(request, context),
      observe: (seen) => metrics.observeExplain(seen),
    });
  }

  private serve<Request, Answer extends PromptFacts & { readonly requestId: string }>(
    parse: () => Parsed<Request>,
    call: EdgeCall,
    kind: Kind<Request, Answer>,
  ): Promise<Answer> {
    const { edge, caller } = call;
    const { log, tracing } = this.parts;
    const { name } = kind;
    const seconds = stopwatch();
    return tracing.serve(name, caller, async (span) => {
      try {
        const answer = await this.admitted(parse, call, kind, span.traceId);
        const { requestId, timings, kv } = answer;
        kind.observe({ edge, code: 'OK', seconds: seconds() }, answer);
        log.debug({ edge, requestId, kv, ...timings }, `a ${name}`);
        span.set({ edge, requestId });
        span.tell(() => recallSpans(timings, kv));
        return answer;
      } catch (thrown) {
        const error = TesseraError.from(thrown);
        if (error.code === 'INTERNAL') log.error({ err: thrown, edge }, `a ${name} failed`);
        kind.observe({ edge, code: error.code, seconds: seconds() });
        throw error;
      }
    });
  }

  /** Asks in a place of admission: the one that came with the call, or one of its own. */
  private async inPlace<Answer>(
    { slot: given }: EdgeCall,
    judge: EdgeAdmission,
    request: unknown,
    leftUs: number,
    ask: (leftUs: number) => Promise<Answer>,
  ): Promise<Answer> {
    const slot = given ?? slotOf(judge, classOf(request), leftUs / MICROSECONDS_PER_MILLISECOND);
    try {
      return await ask(leftUs);
    } catch (thrown) {
      if (NOT_SERVED.has(TesseraError.from(thrown).code)) slot.noteRefused();
      throw thrown;
    } finally {
      if (given === undefined) slot.end(true);
    }
  }

  private async admitted<Request, Answer>(
    parse: () => Parsed<Request>,
    call: EdgeCall,
    { ask, tell }: Kind<Request, Answer>,
    traceId: string,
  ): Promise<Answer> {
    const { readiness, limits, admission } = this.parts;
    // A record is there to be answered as soon as its topic is joined, whatever others wait for.
    const isTaken = call.edge === 'kafka' && readiness.state === 'starting';
    if (!readiness.takesCalls && !isTaken) {
      throw new TesseraError('ENGINE_UNAVAILABLE', `the service is ${readiness.description}`);
    }
    const { request, deadlineMs } = parse();
    try {
      const budgetUs = budgetOf(call, deadlineMs, limits);
      const asked = (leftUs: number) => ask(request, { signal: call.signal, budgetUs: leftUs });
      const isJudged = admission !== undefined && call.edge !== 'kafka';
      const answer = await (isJudged
        ? inTime(admission.loop, budgetUs, (leftUs) =>
            this.inPlace(call, admission.edge, request, leftUs, asked),
          )
        : asked(budgetUs));
      tell?.(request, answer, traceId);
      return answer;
    } catch (thrown) {
      const error = TesseraError.from(thrown);
      tell?.(request, error, traceId);
      // Not one that drains, which is not ready any more: it can compute nothing for anybody.
      if (error.code === 'ENGINE_UNAVAILABLE' && readiness.ready) readiness.fail(error.message);
      throw thrown;
    }
  }
}

/** Codes of calls for which there was no time or no room. */
const NOT_SERVED: ReadonlySet<string> = new Set(['ENGINE_OVERLOADED', 'DEADLINE_EXCEEDED']);

type Priority = NonNullable<RecallRequest['priority']>;
const CLASSES: Readonly<Record<Priority, PriorityClass>> = { high: 0, normal: 1, low: 2 };

function classOf(request: unknown): PriorityClass {
  const { priority } = request as { readonly priority?: Priority };
  return CLASSES[priority ?? 'normal'];
}

/** @throws TesseraError ENGINE_OVERLOADED */
function slotOf(judge: EdgeAdmission, cls: PriorityClass, budgetMs: number): AdmissionSlot {
  const decision = judge.admit(cls, budgetMs);
  if (!('retryAfterMs' in decision)) return decision;
  const message = 'queue too long: the calls ahead take longer than the deadline leaves';
  const retryAfterMs = Math.ceil(decision.retryAfterMs);
  throw new TesseraError('ENGINE_OVERLOADED', message, { retryAfterMs });
}

/** Seconds since it was made. */
function stopwatch(): () => number {
  const started = performance.now();
  return () => (performance.now() - started) / MILLISECONDS_PER_SECOND;
}
