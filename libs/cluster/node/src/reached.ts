import { type ChainPoint, type EntryStore, NO_OFFSET } from '@tessera/log';

const OFFSET_DIGITS = 16;
/** `offset.chain.log`; the release before wrote `offset-log`, and passes over other names. */
const NAMES = [/^(\d+)\.(\w*)\.(.+)$/, /^(\d+)-()(.+)$/];

/** An entry that a node has applied; '' as chain: it is not known. */
export interface ReachedPoint extends ChainPoint {
  readonly log: string;
}

/** A note in the store, under its name. */
export interface ReachedNote extends ReachedPoint {
  readonly name: string;
}

/** A note of this process, and those of all that the store had once it was there. */
export interface NotedReach {
  readonly own: ReachedNote;
  readonly all: readonly ReachedNote[];
}

/**
 * How far nodes have been in the log, in the store beside it: it outlives a log that loses its end.
 * A change is acknowledged when it is noted, and no note names another history: of two nodes that
 * note at once on different histories one at least sees the other's note.
 */
export class Reached {
  private readonly folder: string;
  /** Notes of this process that are in the store. */
  private readonly own = new Set<ReachedNote>();
  private newest: NotedReach | undefined;
  /** Offset of the newest note that was compared with all others. */
  private kept = -1;
  private turn: Promise<unknown> = Promise.resolve();
  /** The look at the store that is on its way. */
  private looking: Promise<readonly ReachedNote[]> | undefined;
  /** The store does not answer: nobody waits for it. */
  isAway = false;

  /** @param cluster name of the cluster: several may share a store */
  constructor(
    private readonly store: EntryStore,
    cluster: string,
  ) {
    this.folder = `reached/${cluster.replaceAll(':', '.')}/`;
  }

  /** The furthest notes first; of each log one or several. Rejects as the store does. */
  async all(): Promise<ReachedNote[]> {
    const names = await this.store.list(this.folder);
    const all = names.flatMap((name) => this.noteOf(name));
    return all.sort((a, b) => b.offset - a.offset);
  }

  /** As all(), shared by calls at once. */
  look(): Promise<readonly ReachedNote[]> {
    this.looking ??= this.all().finally(() => {
      this.looking = undefined;
    });
    return this.looking;
  }

  /** Every log of which something was noted. */
  async logs(): Promise<readonly string[]> {
    return [...new Set((await this.all()).map(({ log }) => log))];
  }

  /**
   * Resolves when the store has the point, or a further one, with what else it has: notes that are
   * asked for while one is being written are written together. Rejects as the store does. Call
   * keep() or withdraw() once all are compared.
   */
  note(newest: () => ReachedPoint, { log, offset }: ReachedPoint): Promise<NotedReach> {
    const own = this.turn.then(() => {
      const { newest: noted } = this;
      const isNoted = noted?.own.log === log && noted.own.offset >= offset;
      return isNoted ? noted : this.write(newest());
    });
    this.turn = own.catch(() => undefined);
    return own;
  }

  /** The note is of the history that all others are of: those behind it may go. */
  async keep({ own, all }: NotedReach): Promise<void> {
    const isBehind = ({ log, offset }: ReachedPoint) => log !== own.log || offset < own.offset;
    // Notes of other nodes that are behind it go where a node begins.
    const gone = [...(this.kept < 0 ? all : this.own)].filter(isBehind);
    this.kept = Math.max(this.kept, own.offset);
    for (const one of gone) await this.remove(one);
  }

  /** Notes that were not kept go: entries that nobody was told of, in a log that went back. */
  withdraw(): Promise<void> {
    const own = this.turn.then(async () => {
      this.newest = undefined;
      for (const one of this.own) if (one.offset > this.kept) await this.remove(one);
    });
    this.turn = own.catch(() => undefined);
    return own;
  }

  private async write({ log, offset, chain }: ReachedPoint): Promise<NotedReach> {
    const digits = String(offset).padStart(OFFSET_DIGITS, '0');
    const known = offset === NO_OFFSET ? '' : chain;
    const own = { log, offset, chain: known, name: `${this.folder}${digits}.${known}.${log}` };
    this.own.add(own);
    await this.store.put(own.name, Buffer.of());
    const all = await this.all();
    this.isAway = false;
    this.newest = { own, all };
    return this.newest;
  }

  private async remove(note: ReachedNote): Promise<void> {
    await this.store.remove(note.name);
    for (const one of this.own) if (one.name === note.name) this.own.delete(one);
  }

  private noteOf(name: string): ReachedNote[] {
    const told = name.slice(this.folder.length);
    const [, offset = '', chain = '', log = ''] =
      NAMES.map((form) => form.exec(told)).find((found) => found !== null) ?? [];
    return offset === '' ? [] : [{ name, log, offset: Number(offset), chain }];
  }
}
