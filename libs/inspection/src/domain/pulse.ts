/** How the service fared in a short time: what the live view shows, point by point. */

import type { RecallAnswer, RecallTimings } from '@tessera/recall';
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

/** Times of one pulse that are kept at most; beyond, each new one takes the place of another. */
const SAMPLES_MAX = 4096;

/** Collects what one pulse tells. */
export class PulseMeter {
  private answered = 0;
  private short = 0;
  private recorded = 0;
  private readonly refused: Record<string, number> = {};
  private readonly samples: RecallTimings[] = [];
  private readonly tokens = { device: 0, host: 0, disk: 0, shared: 0, computed: 0 };
  private widthMax = 0;
  private widthSum = 0;
  private widthCount = 0;

  constructor(private readonly startedMs: number) {}

  answer({ timings, kv, widthsUsed, short }: RecallAnswer): void {
    const place = this.answered < SAMPLES_MAX ? this.answered : this.answered % SAMPLES_MAX;
    this.samples[place] = timings;
    this.answered += 1;
    this.short += short ? 1 : 0;
    this.tokens.device += kv.deviceTokens;
    this.tokens.host += kv.hostTokens;
    this.tokens.disk += kv.diskTokens;
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
      stagesUs: stagesOf(this.samples),
      tokens: this.tokens,
      widthMax: this.widthMax,
      widthMean: this.widthCount === 0 ? 0 : this.widthSum / this.widthCount,
      recorded: this.recorded,
      catalogueSequence,
    };
  }
}

function stagesOf(samples: readonly RecallTimings[]): Pulse['stagesUs'] {
  if (samples.length === 0) return {};
  const entries = PULSE_STAGES.map((stage) => {
    const times = samples.map((timings) => timings[`${stage}Us`]).sort((a, b) => a - b);
    return [stage, { p50: at(times, 0.5), p95: at(times, 0.95), p99: at(times, 0.99) }] as const;
  });
  return Object.fromEntries(entries);
}

/** The smallest time that the share of all does not exceed. */
function at(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? 0;
}
