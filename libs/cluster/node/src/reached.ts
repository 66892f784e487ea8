import { type EntryStore, NO_OFFSET } from '@tessera/log';

const OFFSET_DIGITS = 16;

/** An offset of a log that a node has applied. */
export interface ReachedOffset {
  readonly log: string;
  readonly offset: number;
}

/**
 * How far nodes have been in the log, in the store beside it: it outlives a log that loses its end.
 * A change is acknowledged when it is noted.
 */
export class Reached {
  private readonly folder: string;
  private noted: ReachedOffset = { log: '', offset: NO_OFFSET };
  private turn: Promise<unknown> = Promise.resolve();
  /** The store does not answer: nobody waits for it. */
  isAway = false;

  /** @param cluster name of the cluster: several may share a store */
  constructor(
    private readonly store: EntryStore,
    cluster: string,
  ) {
    this.folder = `reached/${cluster.replaceAll(':', '.')}/`;
  }

  /** The furthest offsets first; of each log one or several. Rejects as the store does. */
  async all(): Promise<ReachedOffset[]> {
    const names = await this.store.list(this.folder);
    const all = names.flatMap((name) => {
      const [, offset = '', log = ''] = /^(\d+)-(.+)$/.exec(name.slice(this.folder.length)) ?? [];
      return offset === '' ? [] : [{ log, offset: Number(offset) }];
    });
    return all.sort((a, b) => b.offset - a.offset);
  }

  /** Every log of which something was noted. */
  async logs(): Promise<readonly string[]> {
    return [...new Set((await this.all()).map(({ log }) => log))];
  }

  /**
   * Resolves when the store has the offset, or a further one: notes that are asked for while one is
   * being written are written together. Rejects as the store does.
   */
  note(newest: () => ReachedOffset, { log, offset }: ReachedOffset): Promise<void> {
    const isNoted = () => this.noted.log === log && this.noted.offset >= offset;
    const own = this.turn.then(async () => {
      if (!isNoted()) await this.write(newest());
    });
    this.turn = own.catch(() => undefined);
    return own;
  }

  private async write(next: ReachedOffset): Promise<void> {
    const before = this.noted;
    await this.store.put(this.nameOf(next), Buffer.of());
    this.noted = next;
    this.isAway = false;
    // Notes of other nodes that are behind it go where a node begins.
    const gone =
      before.log === ''
        ? (await this.all()).filter(({ log, offset }) => log !== next.log || offset < next.offset)
        : [before];
    for (const one of gone) await this.store.remove(this.nameOf(one));
  }

  private nameOf({ log, offset }: ReachedOffset): string {
    return `${this.folder}${String(offset).padStart(OFFSET_DIGITS, '0')}-${log}`;
  }
}
