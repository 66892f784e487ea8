import type { Position } from '@tessera/contracts';
import { TesseraError } from '@tessera/errors';
import {
  type ChainPoint,
  chained,
  digestOfBytes,
  type LogEntry,
  NO_OFFSET,
  type ReadEntry,
} from '@tessera/log';
import { KEYS_KEPT } from './key-window.js';

/** How a person goes on where the log has lost what nodes have applied. */
export const CONTINUE = 'npm run log -- continue --from NODE';

/** Entries that a message names. */
const NAMED_MAX = 50;

/** An entry that is applied here, as a person is told of it. */
interface Applied {
  readonly chain: string;
  readonly name: string;
}

/**
 * The entries that a node has applied, as a chain: each link is the digest of the one before and of
 * the entry. Another log has another chain, whatever its offsets are.
 */
export class History {
  /** Links of the newest entries, by offset. */
  private readonly links = new Map<number, Applied>();

  private current: Position;

  constructor(
    position: Position,
    private readonly place: string,
    /** Newest entries whose keys are known: alike on all nodes of a log. */
    readonly keysKept: number = KEYS_KEPT,
  ) {
    const { offset, chain, log } = position;
    // Before its first entry the chain of a log is its identity.
    this.current = { ...position, chain: offset === NO_OFFSET ? log : chain };
  }

  get position(): Position {
    return this.current;
  }

  get point(): ChainPoint {
    const { offset, chain } = this.current;
    return { offset, chain };
  }

  /** Chain up to an entry that is applied here; undefined: it is not, or too long ago. */
  chainAt(offset: number): string | undefined {
    const chain =
      offset === this.current.offset ? this.current.chain : this.links.get(offset)?.chain;
    return offset > this.current.offset ? undefined : chain || undefined;
  }

  moveTo(position: Position): void {
    this.current = position;
  }

  /**
   * The position behind an entry that comes next.
   * @throws TesseraError LOG_DIFFERENT where the server has another chain
   */
  behind({ offset, bytes, chain }: LogEntry, read: ReadEntry | undefined): Position {
    const before = this.current;
    const own = chained(before.chain || before.log, bytes);
    if (chain !== undefined && before.chain !== '' && own !== chain) {
      throw this.different(offset - 1, 'another digest of them', NO_OFFSET);
    }
    const link = chain ?? own;
    this.remember(offset, link, read);
    return { ...before, offset, entry: digestOfBytes(bytes), chain: link };
  }

  /**
   * An entry that was applied before this process began.
   * @throws TesseraError LOG_DIFFERENT where it is not the one that was applied
   */
  check({ offset, bytes, chain = '' }: LogEntry, read: ReadEntry | undefined): void {
    this.remember(offset, chain, read);
    if (offset !== this.current.offset) return;
    const { entry, chain: own } = this.current;
    const isOther = own !== '' && chain !== '' ? own !== chain : entry !== digestOfBytes(bytes);
    if (isOther && entry !== '') throw this.different(offset, 'another entry', offset - 1);
    // Of a position that an earlier release has written.
    if (own === '' && chain !== '') this.current = { ...this.current, chain };
  }

  /**
   * @param before position when the bounds began to be read: entries may be applied meanwhile
   * @throws TesseraError LOG_DIFFERENT, LOG_TRIMMED
   */
  checkBounds(
    bounds: {
      readonly identity: string;
      readonly first: number;
      readonly end: number;
      readonly chain?: string | undefined;
    },
    before: Position = this.current,
  ): void {
    const { log, offset, chain } = before;
    if (bounds.identity !== log) {
      const got = bounds.identity === '' ? 'one that nobody has begun' : bounds.identity;
      const message = `${this.place}: expected log ${log}, got ${got}`;
      throw new TesseraError(
        'LOG_DIFFERENT',
        `${message}: docs/operate/cluster.md has the choices`,
      );
    }
    if (bounds.end < offset) throw this.different(offset, `up to ${bounds.end}`, bounds.end);
    const isKnown = bounds.end === offset && bounds.chain !== undefined && chain !== '';
    if (isKnown && bounds.chain !== chain) throw this.different(offset, 'others', NO_OFFSET);
    const next = this.current.offset + 1;
    if (bounds.first <= next) return;
    const got = `got from ${bounds.first} on`;
    const message = `${this.place}: expected entries from ${next} on, ${got}`;
    throw new TesseraError('LOG_TRIMMED', message);
  }

  /** True for an entry whose appender had applied another history than this log's. */
  isForeign({ after }: ReadEntry, offset: number): boolean {
    if (after.offset >= offset) return true;
    const known = this.links.get(after.offset)?.chain ?? '';
    return known !== '' && after.chain !== '' && known !== after.chain;
  }

  private different(offset: number, got: string, from: number): TesseraError {
    const expected = `${this.place}: expected entries up to ${offset}, which are applied here`;
    const lost = [...this.links].filter(([at]) => at > from && at <= this.current.offset);
    const shown = lost.slice(0, NAMED_MAX).map(([at, { name }]) => `${at} (${name})`);
    if (lost.length > NAMED_MAX) shown.push(`${lost.length - NAMED_MAX} more`);
    const named = shown.join(', ');
    const what = named === '' ? '' : `; lost: ${named}`;
    const remedy = `an older copy of the log. Restore it, or go on by: ${CONTINUE}`;
    return new TesseraError('LOG_DIFFERENT', `${expected}, got ${got}: ${remedy}${what}`);
  }

  /** The log of a process names no user. */
  private remember(offset: number, chain: string, read: ReadEntry | undefined): void {
    const { key = 'unreadable', kind = '' } = read ?? {};
    this.links.set(offset, { chain, name: `${kind} ${key}` });
    this.links.delete(offset - this.keysKept);
  }
}
