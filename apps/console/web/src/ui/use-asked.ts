import { useQuery } from '@tanstack/react-query';
import { get } from '../api.js';

/** The API's answer at a path; asked for again every `everyMs` where given. */
export function useAsked<Answer>(path: string, everyMs?: number) {
  return useQuery({
    queryKey: [path],
    queryFn: ({ signal }) => get<Answer>(path, signal),
    ...(everyMs !== undefined && { refetchInterval: everyMs }),
  });
}
