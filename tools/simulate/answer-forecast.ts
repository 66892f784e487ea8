/** Answers whose times say how long the next ones take. */
const KNOWN_ANSWERS = 256;

interface Foreseen {
  beginsUs: number;
  hasBegun: boolean;
}

/** One answer's account. */
export interface AnswerAccount {
  begin(nowUs: number): void;
  end(nowUs: number): void;
  /** It is not answered after all. */
  drop(): void;
}

/**
 * Answers that nodes will be decoding at a later moment: those admitted whose prompts are complete
 * by then, less those that will have ended. How long one lasts is known from the last ones alone;
 * one that has lasted for a time is judged by those that lasted longer.
 */
export class AnswerForecast {
  private readonly foreseen = new Set<Foreseen>();
  private readonly last: number[] = [];
  private sorted: readonly number[] | undefined;

  /** An answer is admitted that is to begin then. @returns its account */
  admit(beginsUs: number): AnswerAccount {
    const answer: Foreseen = { beginsUs, hasBegun: false };
    this.foreseen.add(answer);
    return {
      begin: (nowUs) => {
        answer.beginsUs = nowUs;
        answer.hasBegun = true;
      },
      end: (nowUs) => {
        this.foreseen.delete(answer);
        this.last.push(nowUs - answer.beginsUs);
        if (this.last.length > KNOWN_ANSWERS) this.last.shift();
        this.sorted = undefined;
      },
      drop: () => {
        this.foreseen.delete(answer);
      },
    };
  }

  /** The most answers that are expected to be under way while one that begins then lasts. */
  peakFrom(us: number, nowUs: number): number {
    let peak = this.runningAt(us, nowUs);
    for (const { beginsUs } of this.foreseen) {
      if (beginsUs <= us) continue;
      const own = this.lasting(beginsUs - us);
      // The answer that begins then is one of those counted.
      if (own > 0) peak = Math.max(peak, this.runningAt(beginsUs, nowUs) - 1 + own);
    }
    return peak;
  }

  /** Answers that are expected to be under way at a time from now on. */
  private runningAt(us: number, nowUs: number): number {
    let count = 0;
    for (const { beginsUs: saidUs, hasBegun } of this.foreseen) {
      // A prompt that is late may be complete at any time.
      const beginsUs = hasBegun ? saidUs : Math.max(saidUs, nowUs);
      if (beginsUs > us) continue;
      const before = this.lasting(Math.max(0, nowUs - beginsUs));
      count += before === 0 ? 0 : this.lasting(us - beginsUs) / before;
    }
    return count;
  }

  /** Share of answers that last longer; 1 before any has ended. */
  private lasting(us: number): number {
    const sorted = this.sorted ?? this.last.toSorted((a, b) => a - b);
    this.sorted = sorted;
    if (sorted.length === 0) return 1;
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((sorted[middle] as number) <= us) low = middle + 1;
      else high = middle;
    }
    return (sorted.length - low) / sorted.length;
  }
}
