/** How the service fared in a short time: what the live view shows, point by point. */

import type { RecallAnswer } from '@tessera/recall';
import { MILLISECONDS_PER_SECOND } from '@tessera/units';

/** Stages of which a pulse has the times, in the order of a recall. */
const PULSE_STAGES = [
  'features',
  'prompt',
  'queue',
  'prefill',
  'decode',
  'head',
  'select',
  'export',
  'total',
] as const;

export type PulseStage = (typeof PULSE_STAGES)[number];

/** Microseconds below which so many of the recalls were answered. */
export interface Quantiles {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

export interface Pulse {
  /** When it ended, milliseconds since 1970. */
  readonly timeMs: number;
  readonly seconds: number;
  readonly answered: number;
  readonly short: number;
  /** Recalls that failed, by error code. */
  readonly refused: Readonly<Record<string, number>>;
  /** Empty where none was answered. */
  readonly stagesUs: Readonly<Partial<Record<PulseStage, Quantiles>>>;
  /** Prompt tokens by where their keys and values came from. */
  readonly tokens: Readonly<Record<'device' | 'host' | 'disk' | 'shared' | 'computed', number>>;
  /** Widest and mean beam of the answered recalls; 0 where there was none. */
  readonly widthMax: number;
  readonly widthMean: number;
  readonly recorded: number;
  readonly catalogueSequence: number;
}

/** Recalls of one pulse whose times are kept at most; each further one takes the oldest's place. */
export const SAMPLES_MAX = 4096;

/** Collects what one pulse tells. */
export class PulseMeter {
  private answered = 0;
  private short = 0;
  private recorded = 0;
  private readonly refused: Record<string, number> = {};
  /** Microseconds by stage. Numbers alone: kept answers would be moved by each collection. */
  private readonly stagesUs = PULSE_STAGES.map(() => new Float64Array(SAMPLES_MAX));
  private readonly tokens = { device: 0, host: 0, disk: 0, shared: 0, computed: 0 };
  private widthMax = 0;
  private widthSum = 0;
  private widthCount = 0;

  constructor(private readonly startedMs: number) {}

  answer({ timings, kv, widthsUsed, short }: RecallAnswer): void {
    const place = this.answered % SAMPLES_MAX;
    for (let stage = 0; stage < PULSE_STAGES.length; stage++) {
      const us = timings[`${PULSE_STAGES[stage] as PulseStage}Us`];
      (this.stagesUs[stage] as Float64Array)[place] = us;
    }
    this.answered += 1;
    this.short += short ? 1 : 0;
    const { device = 0, host = 0, disk = 0 } = kv.tokensByTier;
    this.tokens.device += device;
    this.tokens.host += host;
    this.tokens.disk += disk;
    this.tokens.shared += kv.sharedTokens;
    this.tokens.computed += kv.computedTokens;
    for (const width of widthsUsed) {
      this.widthMax = Math.max(this.widthMax, width);
      this.widthSum += width;
      this.widthCount += 1;
    }
  }

  refusal(code: string): void {
    this.refused[code] = (this.refused[code] ?? 0) + 1;
  }

  record(): void {
    this.recorded += 1;
  }

  /** The pulse of what was collected; the next one has a meter of its own. */
  end(nowMs: number, catalogueSequence: number): Pulse {
    return {
      timeMs: nowMs,
      seconds: Math.max(0, nowMs - this.startedMs) / MILLISECONDS_PER_SECOND,
      answered: this.answered,
      short: this.short,
      refused: this.refused,
      stagesUs: this.quantiles(),
      tokens: this.tokens,
      widthMax: this.widthMax,
      widthMean: this.widthCount === 0 ? 0 : this.widthSum / this.widthCount,
      recorded: this.recorded,
      catalogueSequence,
    };
  }

  /** Sorted as typed arrays, in a quarter of the time: recalls wait for it. */
  private quantiles(): Pulse['stagesUs'] {
    const count = Math.min(this.answered, SAMPLES_MAX);
    if (count === 0) return {};
    const entries = PULSE_STAGES.map((stage, index) => {
      const times = (this.stagesUs[index] as Float64Array).subarray(0, count).sort();
      return [stage, { p50: at(times, 0.5), p95: at(times, 0.95), p99: at(times, 0.99) }] as const;
    });
    return Object.fromEntries(entries);
  }
}

/** The smallest time that the share of all does not exceed. */
function at(sorted: Float64Array, share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? 0;
}
