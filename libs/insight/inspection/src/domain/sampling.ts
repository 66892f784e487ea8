import type { RecordReason } from './recorded-recall.js';

export interface SamplingRules {
  /** Percent of the recalls that no other rule names. */
  readonly percent: number;
  /** Users whose recalls are all recorded. */
  readonly users: ReadonlySet<string>;
}

/** Users as the configuration names them, separated by commas. */
export function parseWatchedUsers(text: string): ReadonlySet<string> {
  const names = text.split(',').map((name) => name.trim());
  return new Set(names.filter((name) => name !== ''));
}

/**
 * Why a recall is recorded; undefined: it is not.
 * @param draw evenly distributed in [0, 1)
 */
export function reasonToRecord(
  recall: {
    readonly isAskedFor: boolean;
    readonly userId: string | undefined;
    /** It draws among all items, and estimates of other settings will ask it again. */
    readonly isDrawn: boolean;
  },
  { percent, users }: SamplingRules,
  draw: number,
): RecordReason | undefined {
  if (recall.isAskedFor) return 'request';
  if (recall.userId !== undefined && users.has(recall.userId)) return 'user';
  if (recall.isDrawn) return 'draw';
  return draw * 100 < percent ? 'share' : undefined;
}
