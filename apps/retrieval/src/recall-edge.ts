import type { PriorityClass } from '@tessera/admission';
import type { Call } from '@tessera/call';
import { TesseraError } from '@tessera/errors';
import type { Readiness } from '@tessera/lifecycle';
import type {
  ExplainAnswer,
  ExplainRequest,
  PromptFacts,
  RankAnswer,
  RankRequest,
  RecallAnswer,
  RecallContext,
  RecallFacts,
  RecallRequest,
  RecallServing,
  ScoreAnswer,
  ScoreRequest,
} from '@tessera/recall';
import type { RelevanceScorer } from '@tessera/relevance';
import type {
  Log,
  Metrics,
  Observation,
  OpenSpan,
  SpanAttributes,
  Tracing,
} from '@tessera/telemetry';
import { MILLISECONDS_PER_SECOND } from '@tessera/units';
import type { Audited } from './audited.js';
import { inferenceAttributes, retrievalAttributes } from './gen-ai-attributes.js';
import { recallSpans } from './recall-spans.js';
import { recallThroughGate } from './relevance-gate.js';

/** A request as an edge parsed it, with the time the caller gives it. */
export interface Parsed<Request> {
  readonly request: Request;
  /** Milliseconds from the body; undefined where the caller said nothing. */
  readonly deadlineMs: number | undefined;
}

export interface EdgeParts {
  /** Answers recalls, and may record them. */
  readonly recalls: Pick<RecallServing, 'recall'>;
  readonly serving: Pick<RecallServing, 'score' | 'rank' | 'explain'>;
  /** Scores texts for the gates of recalls; left out: no model does. */
  readonly relevance?: Pick<RelevanceScorer, 'score' | 'itemText' | 'checkAdapter'> | undefined;
  readonly facts: Pick<RecallFacts, 'describe'>;
  readonly readiness: Readiness;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly tracing: Tracing;
  /** Called with every recall that was understood; left out: nothing is called. */
  readonly onRecall?: ((audited: Audited) => void) | undefined;
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
  readonly name: 'recall' | 'score' | 'rank' | 'explain';
  /** Attributes of its span, from the request alone. */
  readonly attributes?: (request: Request) => SpanAttributes;
  readonly ask: (request: Request, context: RecallContext) => Promise<Answer>;
  readonly observe: (seen: Observation, answer?: Answer) => void;
  /** Told what was asked and how it ended. */
  readonly tell?: (request: Request, outcome: Answer | TesseraError, traceId: string) => void;
}

/** Admits, answers, counts and traces a parsed request, for all edges. */
export class RecallEdge {
  constructor(private readonly parts: EdgeParts) {}

  /** `parse` may throw; its refusals are counted like any other. */
  recall(parse: () => Parsed<RecallRequest>, call: Call): Promise<RecallAnswer> {
    const { metrics, recalls, relevance, facts, onRecall } = this.parts;
    const recall = (request: RecallRequest, context: RecallContext) =>
      recalls.recall(request, context);
    const { edge } = call;
    return this.serve(parse, call, {
      name: 'recall',
      attributes: retrievalAttributes,
      ask: (request, context) => recallThroughGate({ recall, relevance, facts }, request, context),
      observe: (seen, answer) => {
        metrics.countRanked(answer?.ranking?.items ?? 0);
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
        );
      },
      ...(onRecall && {
        tell: (request, outcome, traceId) => onRecall({ edge, request, outcome, traceId }),
      }),
    });
  }

  /** Scores items, served as recall(). */
  score(parse: () => Parsed<ScoreRequest>, call: Call): Promise<ScoreAnswer> {
    const { metrics, serving } = this.parts;
    return this.serve(parse, call, {
      name: 'score',
      ask: (request, context) => serving.score(request, context),
      observe: (seen) => metrics.observeCall('score', seen),
    });
  }

  /** Ranks items, served as recall(). */
  rank(parse: () => Parsed<RankRequest>, call: Call): Promise<RankAnswer> {
    const { metrics, serving } = this.parts;
    return this.serve(parse, call, {
      name: 'rank',
      ask: (request, context) => serving.rank(request, context),
      observe: (seen, answer) => {
        metrics.observeCall('rank', seen);
        metrics.countRanked(answer?.ranking.items ?? 0);
      },
    });
  }

  /** Explains an item, served as recall(). */
  explain(parse: () => Parsed<ExplainRequest>, call: Call): Promise<ExplainAnswer> {
    const { metrics, serving } = this.parts;
    return this.serve(parse, call, {
      name: 'explain',
      ask: (request, context) => serving.explain(request, context),
      observe: (seen) => metrics.observeCall('explain', seen),
    });
  }

  /** @throws TesseraError ENGINE_UNAVAILABLE where the service takes no calls */
  checkReadiness({ edge }: Pick<Call, 'edge'>): void {
    const { readiness } = this.parts;
    // A record is there to be answered as soon as its topic is joined, whatever others wait for.
    const isTaken = edge === 'kafka' && readiness.state === 'starting';
    if (readiness.takesCalls || isTaken) return;
    throw new TesseraError('ENGINE_UNAVAILABLE', `the service is ${readiness.description}`);
  }

  private serve<Request, Answer extends PromptFacts & { readonly requestId: string }>(
    parse: () => Parsed<Request>,
    call: Call,
    kind: Kind<Request, Answer>,
  ): Promise<Answer> {
    const { edge, trace } = call;
    const { log, tracing } = this.parts;
    const { name } = kind;
    const seconds = stopwatch();
    return tracing.serve(name, trace, async (span) => {
      try {
        const answer = await this.admitted(parse, call, kind, span);
        const { requestId, timings, kv } = answer;
        kind.observe({ edge, code: 'OK', seconds: seconds() }, answer);
        log.debug({ edge, requestId, kv, ...timings }, `${name} request served`);
        span.set({ edge, requestId });
        span.tell(() => recallSpans(timings, kv, inferenceAttributes(answer)));
        return answer;
      } catch (thrown) {
        const error = TesseraError.from(thrown);
        if (error.code === 'INTERNAL') log.error({ err: thrown, edge }, `${name} request failed`);
        kind.observe({ edge, code: error.code, seconds: seconds() });
        throw error;
      }
    });
  }

  private async admitted<Request, Answer>(
    parse: () => Parsed<Request>,
    call: Call,
    { ask, tell, attributes }: Kind<Request, Answer>,
    span: OpenSpan,
  ): Promise<Answer> {
    const { readiness } = this.parts;
    this.checkReadiness(call);
    const { request, deadlineMs } = parse();
    const { traceId } = span;
    if (attributes !== undefined) span.set(attributes(request));
    try {
      call.limit(deadlineMs);
      call.admit(classOf(request));
      const answer = await ask(request, { signal: call.signal, budgetUs: call.leftUs });
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

type Priority = NonNullable<RecallRequest['priority']>;
const CLASSES: Readonly<Record<Priority, PriorityClass>> = { high: 0, normal: 1, low: 2 };

export function classOf(request: unknown): PriorityClass {
  const { priority } = request as { readonly priority?: Priority };
  return CLASSES[priority ?? 'normal'];
}

/** Seconds since it was made. */
function stopwatch(): () => number {
  const started = performance.now();
  return () => (performance.now() - started) / MILLISECONDS_PER_SECOND;
}
