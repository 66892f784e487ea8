import { setTimeout as sleep } from 'node:timers/promises';
import {
  protoSchema,
  recallEventsPackage,
  type WireAuditedRequest,
  type WireRecallAudited,
} from '@tessera/contracts';
import type { Erasures } from '@tessera/erasure';
import { TesseraError } from '@tessera/errors';
import { predicateIdOf } from '@tessera/facts';
import {
  MessageCodec,
  RECORD_HEADERS,
  type RecordProducer,
  untilDone,
  wireRefusal,
} from '@tessera/kafka';
import { eligibilityText, type RecallRequest } from '@tessera/recall';
import type { Log, Metrics } from '@tessera/telemetry';
import { withinMs } from '@tessera/turns';
import type { Audited } from '../audited.js';
import { toWireResponse } from '../wire/recall.mapper.js';

/** Audits that wait for the broker at most; further ones are dropped. */
export const AUDITS_WAITING_MAX = 10_000;
const AUDITS_PER_SEND = 256;
/** Audits of this long go together. */
const GATHER_MS = 20;
/** Share of a close's time for what waits; the rest is for saying what is lost. */
const LAST_TRY_SHARE = 0.8;
const PAYLOAD_VERSION = '1';

interface WaitingAudit {
  readonly audited: Audited;
  readonly timeMs: number;
  /** Mark of the erasures when it was written. */
  readonly mark: number;
}

export interface RecallAuditsParts {
  readonly producer: Pick<RecordProducer, 'send'>;
  readonly topic: string;
  readonly metrics: Pick<Metrics, 'countAudits'>;
  readonly log: Log;
  readonly erasures: Erasures;
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
}

/**
 * Audits on their way to their topic (proto/tessera/recall/events/v1), behind the answers. Bounded:
 * a broker that is away for long costs audits and never an answer.
 */
export class RecallAudits {
  private readonly codec = new MessageCodec<WireRecallAudited>(
    protoSchema,
    `${recallEventsPackage}.RecallAudited`,
  );
  private readonly waiting: WaitingAudit[] = [];
  private readonly closing = new AbortController();
  private writing: Promise<void> | undefined;

  constructor(private readonly parts: RecallAuditsParts) {}

  write(audited: Audited): void {
    if (this.waiting.length >= AUDITS_WAITING_MAX || this.closing.signal.aborted) {
      this.parts.metrics.countAudits('dropped', 1);
      return;
    }
    const { nowMs, erasures } = this.parts;
    this.waiting.push({ audited, timeMs: nowMs(), mark: erasures.mark });
    this.writing ??= this.writeWaiting().finally(() => {
      this.writing = undefined;
    });
  }

  /** Gives the waiting audits one more try within the time; lost ones are counted and said. */
  async close(budgetMs: number): Promise<void> {
    const { metrics, log } = this.parts;
    this.closing.abort();
    await withinMs(budgetMs * LAST_TRY_SHARE, this.lastTry()).catch((thrown: unknown) => {
      const lost = this.waiting.length;
      metrics.countAudits('failed', lost);
      log.warn({ err: thrown, lost }, 'the broker has not taken the last audits of recalls');
    });
  }

  private async lastTry(): Promise<void> {
    await this.writing;
    while (this.waiting.length > 0) {
      const count = Math.min(this.waiting.length, AUDITS_PER_SEND);
      await this.sendFirst(count);
      this.waiting.splice(0, count);
    }
  }

  private async writeWaiting(): Promise<void> {
    const { signal } = this.closing;
    while (this.waiting.length > 0 && !signal.aborted) {
      await gathered(signal);
      const count = Math.min(this.waiting.length, AUDITS_PER_SEND);
      const written = await untilDone(
        () => this.sendFirst(count),
        signal,
        (error) => this.parts.log.warn({ err: error }, 'audits of recalls wait for the broker'),
      );
      if (written !== null) this.waiting.splice(0, count);
    }
  }

  private async sendFirst(count: number): Promise<true> {
    const { producer, topic, metrics, erasures } = this.parts;
    const first = this.waiting.slice(0, count);
    // Nothing is written of a user who was erased while the broker was away.
    const kept = first.filter(({ audited, mark }) =>
      erasures.mayKeep(audited.request.userId, mark),
    );
    metrics.countAudits('dropped', count - kept.length);
    if (kept.length === 0) return true;
    const messages = kept.map(({ audited, timeMs }) => ({
      key: audited.request.userId ?? '',
      value: this.codec.encode(wireAudited(audited, timeMs)),
      headers: { [RECORD_HEADERS.version]: PAYLOAD_VERSION },
    }));
    try {
      await producer.send(topic, messages);
      metrics.countAudits('written', kept.length);
    } catch (thrown) {
      if (TesseraError.from(thrown).code !== 'BODY_TOO_LARGE') throw thrown;
      await this.sendEach(messages);
    }
    return true;
  }

  /** Sends messages one by one: a message larger than the topic takes is lost alone. */
  private async sendEach(messages: Parameters<RecordProducer['send']>[1]): Promise<void> {
    const { producer, topic, metrics } = this.parts;
    for (const message of messages) {
      try {
        await producer.send(topic, [message]);
        metrics.countAudits('written', 1);
      } catch (thrown) {
        if (TesseraError.from(thrown).code !== 'BODY_TOO_LARGE') throw thrown;
        metrics.countAudits('failed', 1);
      }
    }
  }
}

async function gathered(signal: AbortSignal): Promise<void> {
  await sleep(GATHER_MS, undefined, { signal }).catch(() => undefined);
}

function wireAudited(audited: Audited, timeMs: number): WireRecallAudited {
  const { edge, request, outcome, traceId } = audited;
  const ending =
    outcome instanceof Error
      ? { refusal: wireRefusal(outcome) }
      : { response: toWireResponse(outcome) };
  const arm = outcome instanceof Error ? '' : (outcome.arm ?? '');
  const predicateId = predicateIdOf(request.eligibility);
  const known = { timeMs, edge, traceId, arm, predicateId };
  return { ...known, request: wireRequest(request), ...ending };
}

function wireRequest(request: RecallRequest): WireAuditedRequest {
  const { requestId, userId = '', history = [], profile, scene, catalogue = '' } = request;
  const { resultCount, widths, itemsPerSid, skipUnknownItems, itemPolicy } = request;
  const { scoreNorm = '', priority = 'normal', eligibility, allowPartial = false } = request;
  const { adapter = '', frequencyCaps = [], search = '', rowBudget = 0 } = request;
  const { valuation, explore, rank } = request;
  return {
    requestId,
    userId,
    history: [...history],
    profile: { ...profile },
    scene: { ...scene },
    resultCount,
    widths: [...widths],
    itemsPerSid,
    scoreNorm,
    priority,
    eligibility: eligibility === undefined ? '' : eligibilityText(eligibility),
    itemPolicy: itemPolicy && { ...itemPolicy, diversity: [...itemPolicy.diversity] },
    allowPartial,
    skipUnknownItems,
    catalogue,
    adapter,
    frequencyCaps: [...frequencyCaps],
    search,
    rowBudget,
    valuation,
    explore,
    rank: rank && { items: rank.items, adapter: rank.adapter, valuation: rank.valuation },
  };
}
