export const WAIT_FOR = ['appended', 'applied-here', 'applied-everywhere'] as const;

/** Event before the answer to a change: it is in the log, on this node, or on all that serve. */
export type WaitFor = (typeof WAIT_FOR)[number];

/** How a change is taken that all nodes of a cluster have to know. */
export interface Submission {
  /** Key that counts once among the newest KEYS_KEPT entries; '' or left out: none. */
  readonly key?: string | undefined;
  /** Left out: `applied-everywhere`. */
  readonly waitFor?: WaitFor | undefined;
  /** Aborted: the caller no longer waits; what is in the log counts all the same. */
  readonly signal?: AbortSignal | undefined;
  /** Until when the caller waits, by performance.now(); left out: as long as the log lets it. */
  readonly untilMs?: number | undefined;
  /** Told the offset of the entry once it is applied here, also where it is refused. */
  readonly onEntry?: ((offset: number) => void) | undefined;
}
