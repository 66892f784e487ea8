import { randomBytes } from 'node:crypto';
import { TesseraError } from '@tessera/errors';
import { RecallIds } from '@tessera/facts';
import type { RecallAnswer, RecallContext, RecallRequest, RecallServing } from '@tessera/recall';
import type { InspectionStore } from './domain/inspection-store.js';
import { type Pulse, PulseMeter } from './domain/pulse.js';
import type { RecallSource } from './domain/recorded-recall.js';
import { reasonToRecord, type SamplingRules } from './domain/sampling.js';

export interface InspectedRecallsParts {
  readonly serving: Pick<RecallServing, 'recall' | 'erasures'>;
  /** Undefined: nothing is recorded. */
  readonly store: InspectionStore | undefined;
  readonly rules: SamplingRules;
  /** Told of each recall that was tried in the console. */
  readonly onTried?: (request: RecallRequest, outcome: RecallAnswer | TesseraError) => void;
  /** Number of the last change of the catalogue. */
  readonly catalogueSequence: () => number;
  readonly nowMs: () => number;
  /** Evenly distributed in [0, 1). */
  readonly draw: () => number;
  /** Milliseconds of a pulse. */
  readonly pulseMs: number;
}

/** Recalls of a pulse that are recorded because they draw: more than any estimate asks again. */
const DRAWS_MAX = 50;

/** How many pulses are held here: those of the last hour come from the store. */
const PULSES_HELD = 720;

/** An answer, and the ID that it is recorded under; '' where it is not. */
export interface InspectedAnswer {
  readonly answer: RecallAnswer;
  readonly recordId: string;
}

/**
 * The recalls of a service with a witness beside them: some are recorded, all are counted in
 * pulses. A recall that is not recorded costs a comparison and a few additions.
 */
export class InspectedRecalls implements Pick<RecallServing, 'recall'> {
  private meter: PulseMeter;
  private readonly held: Pulse[] = [];
  /** Recalls of this pulse that were recorded because they draw. */
  private draws = 0;
  private readonly ids = new RecallIds(randomBytes(8).toString('hex'));
  private readonly timer: NodeJS.Timeout;

  constructor(private readonly parts: InspectedRecallsParts) {
    this.meter = new PulseMeter(parts.nowMs());
    this.timer = setInterval(() => this.pulse(), parts.pulseMs);
    this.timer.unref();
  }

  /** Answers as the service does; nothing that is only recorded is in the answer. */
  async recall(request: RecallRequest, context: RecallContext): Promise<RecallAnswer> {
    const { answer } = await this.run(request, context, 'served');
    return answer;
  }

  /** Answers a recall that is tried in the console, which is always recorded. */
  async try(request: RecallRequest, context: RecallContext): Promise<InspectedAnswer> {
    const { onTried } = this.parts;
    try {
      const tried = await this.run({ ...request, wantsSight: true }, context, 'console');
      onTried?.(request, tried.answer);
      return tried;
    } catch (thrown) {
      onTried?.(request, TesseraError.from(thrown));
      throw thrown;
    }
  }

  /** Pulses since then, oldest first. */
  async pulsesSince(fromMs: number): Promise<readonly Pulse[]> {
    const [first] = this.held;
    const isHeld = first !== undefined && first.timeMs <= fromMs;
    const kept = isHeld ? [] : ((await this.parts.store?.pulses(fromMs)) ?? []);
    const known = new Set(kept.map((pulse) => pulse.timeMs));
    const own = this.held.filter(({ timeMs }) => timeMs >= fromMs && !known.has(timeMs));
    return [...kept, ...own].sort((a, b) => a.timeMs - b.timeMs);
  }

  close(): void {
    clearInterval(this.timer);
  }

  private async run(
    request: RecallRequest,
    context: RecallContext,
    source: RecallSource,
  ): Promise<InspectedAnswer> {
    const { serving, store, rules, draw, nowMs } = this.parts;
    const isDrawn = drawsAmongAll(request) && this.draws < DRAWS_MAX;
    const asked = { isAskedFor: request.wantsSight ?? false, userId: request.userId, isDrawn };
    const reason = store === undefined ? undefined : reasonToRecord(asked, rules, draw());
    if (reason === 'draw') this.draws += 1;
    const { wantsSight: _asked, ...plain } = request;
    const wanted = reason === undefined ? plain : { ...plain, wantsSight: true };
    const id = reason === undefined ? '' : this.ids.next(nowMs());
    const { erasures } = serving;
    const { mark } = erasures;
    const keep = (outcome: Parameters<InspectionStore['offer']>[0]['outcome']) => {
      // Nothing of a user is recorded who was erased since: not even that there was one.
      if (reason === undefined || erasures.isErasedSince(request.userId, mark)) return false;
      this.meter.record();
      const recall = { id, timeMs: nowMs(), source, reason, request: plain, outcome };
      return store?.offer(recall) ?? false;
    };
    try {
      const seen = await serving.recall(wanted, context);
      this.meter.answer(seen);
      const isKept = keep({ answer: seen });
      const { sight: _sight, ...answer } = seen;
      return { answer, recordId: isKept ? id : '' };
    } catch (thrown) {
      const { code, message } = TesseraError.from(thrown);
      this.meter.refusal(code);
      keep({ code, message });
      throw thrown;
    }
  }

  private pulse(): void {
    const { nowMs, catalogueSequence, store } = this.parts;
    const now = nowMs();
    const pulse = this.meter.end(now, catalogueSequence());
    this.meter = new PulseMeter(now);
    this.draws = 0;
    this.held.push(pulse);
    if (this.held.length > PULSES_HELD) this.held.shift();
    store?.offerPulse(pulse);
  }
}

/** Draws among a part of the items, or of ranked ones, tell nothing of other settings. */
const drawsAmongAll = ({ explore, eligibility, rank }: RecallRequest) =>
  explore !== undefined && eligibility?.drawn === undefined && rank === undefined;
