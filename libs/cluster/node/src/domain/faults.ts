/** Faults that reading again does not mend: the node follows the log no longer. */
export const LASTING: ReadonlySet<string> = new Set([
  ...['LOG_TRIMMED', 'LOG_DIFFERENT', 'STATE_DIFFERENT'],
]);

/**
 * Faults of one entry that the node can do nothing about: it waits before the entry, answers on
 * and takes no changes, until the entry can be applied, is refused by a person, or is behind it in
 * a snapshot.
 */
export const HOLDING: ReadonlySet<string> = new Set(['LOG_INCOMPLETE', 'STORE_NEWER']);
