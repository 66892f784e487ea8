import { useRef, useState } from 'react';
import type { ExplainAnswer, RecallList } from '../../../src/api-types.js';
import { get, post, withQuery } from '../api.js';

/** Recalls that are asked: enough for a picture, few enough to wait for. */
const SAMPLE = 30;

export interface Verdicts {
  readonly asked: number;
  readonly failed: number;
  readonly counts: Readonly<Record<string, number>>;
  /** Items that the search gave up, by its step, from 1. */
  readonly steps: Readonly<Record<number, number>>;
}

export const NO_VERDICTS: Verdicts = { asked: 0, failed: 0, counts: {}, steps: {} };

export function withVerdict(before: Verdicts, { verdict, step }: ExplainAnswer): Verdicts {
  const counts = Object.assign({}, before.counts, { [verdict]: (before.counts[verdict] ?? 0) + 1 });
  const at = (step ?? 0) + 1;
  const steps =
    verdict === 'pruned'
      ? Object.assign({}, before.steps, { [at]: (before.steps[at] ?? 0) + 1 })
      : before.steps;
  return Object.assign({}, before, { asked: before.asked + 1, counts, steps });
}

/** Asks the newest recorded recalls, one after the other, what became of an item in each. */
export function useVerdicts(itemId: string) {
  const [verdicts, setVerdicts] = useState<Verdicts | undefined>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  const [isRunning, setIsRunning] = useState(false);
  const stop = useRef<AbortController | undefined>(undefined);
  const start = async () => {
    stop.current = new AbortController();
    const { signal } = stop.current;
    setIsRunning(true);
    setError(undefined);
    let sum = NO_VERDICTS;
    try {
      const limit = String(SAMPLE);
      const query = withQuery('recalls', { code: 'OK', limit });
      const { recalls } = await get<RecallList>(query, signal);
      for (const { id, node } of recalls) {
        const path = withQuery(`recalls/${encodeURIComponent(id)}/explain`, { node });
        try {
          sum = withVerdict(sum, await post<ExplainAnswer>(path, { itemId }, signal));
        } catch (thrown) {
          if (signal.aborted) throw thrown;
          sum = Object.assign({}, sum, { failed: sum.failed + 1 });
        }
        setVerdicts(sum);
      }
    } catch (thrown) {
      if (!signal.aborted) setError(thrown);
    } finally {
      setIsRunning(false);
    }
  };
  return { verdicts, error, isRunning, start, stop: () => stop.current?.abort() };
}
