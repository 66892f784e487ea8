/** How far a state is: kept with it, in one commit with the effect of the entry. */
export interface Position {
  /** Identity of the log. */
  readonly log: string;
  readonly offset: number;
  /** Digest of the entry there; '' for none. */
  readonly entry: string;
  /** Chain of all entries up to it; '' where an earlier release, which kept none, wrote it. */
  readonly chain: string;
  /** Sum over all users that were ever erased: part of the state's digest. */
  readonly erased: string;
}

export const markOf = (position: Position): string => JSON.stringify(position);

/** Undefined for '' and for what is no position. */
export function positionOf(mark: string): Position | undefined {
  try {
    const { log, offset, entry, chain = '', erased } = JSON.parse(mark) as Partial<Position>;
    const isPosition = typeof log === 'string' && Number.isSafeInteger(offset);
    if (!isPosition || typeof entry !== 'string' || typeof erased !== 'string') return undefined;
    return { log, offset: offset as number, entry, chain, erased };
  } catch {
    return undefined;
  }
}
