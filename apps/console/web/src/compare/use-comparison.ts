import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import type { ComparisonLine } from '../../../src/api-types.js';
import { postLines } from '../api.js';
import { NO_RUN, type Run, withLine } from './run.js';

/** Runs a comparison and takes it in as it comes. */
export function useComparison() {
  const queries = useQueryClient();
  const [run, setRun] = useState<Run>(NO_RUN);
  const [error, setError] = useState<unknown>(undefined);
  const [isRunning, setIsRunning] = useState(false);
  const stop = useRef<AbortController | undefined>(undefined);
  const start = async (body: unknown) => {
    stop.current = new AbortController();
    const { signal } = stop.current;
    setRun(NO_RUN);
    setError(undefined);
    setIsRunning(true);
    try {
      for await (const line of postLines<ComparisonLine>('comparisons', body, signal)) {
        setRun((now) => withLine(now, line));
      }
    } catch (thrown) {
      if (!signal.aborted) setError(thrown);
    } finally {
      setIsRunning(false);
      void queries.invalidateQueries({ queryKey: ['comparisons'] });
    }
  };
  return { run, error, isRunning, start, stop: () => stop.current?.abort() };
}
