import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { LivePage } from '../../../src/api-types.js';
import { get, withQuery } from '../api.js';

const REFRESH_MS = 5000;
const MS_PER_MINUTE = 60_000;

/** The pulses of before and the new ones, without those older than the span. */
export function withNew(before: LivePage | undefined, now: LivePage, minutes: number): LivePage {
  const pulses = [...(before?.pulses ?? []), ...now.pulses];
  const newest = pulses.at(-1)?.timeMs ?? 0;
  const from = newest - minutes * MS_PER_MINUTE;
  return { ...now, pulses: pulses.filter(({ timeMs }) => timeMs >= from) };
}

/** How the service fares, every five seconds: only what is new is asked for. */
export function useLive(minutes: number) {
  const queries = useQueryClient();
  const queryKey = ['live', minutes];
  return useQuery({
    queryKey,
    refetchInterval: REFRESH_MS,
    queryFn: async ({ signal }) => {
      const before = queries.getQueryData<LivePage>(queryKey);
      const afterMs = before?.pulses.at(-1)?.timeMs;
      const query = {
        minutes: String(minutes),
        afterMs: afterMs === undefined ? undefined : String(afterMs),
      };
      const now = await get<LivePage>(withQuery('live', query), signal);
      return withNew(before, now, minutes);
    },
  });
}
