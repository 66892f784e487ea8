import { type EntryStore, NO_OFFSET } from '@tessera/log';

const OFFSET_DIGITS = 16;

/** The largest offset that nodes have published of a log. */
export interface ReachedOffset {
  readonly log: string;
  readonly offset: number;
}

/**
 * How far nodes have seen the log, in the store beside it: it outlives a log that loses its end, so
 * that a node without a state knows that something is missing. Written at most once a second: of
 * the newest second of a lost log the nodes' own states alone know.
 */
export class Reached {
  private readonly folder: string;
  /** Written by this process, newest last, and by others before it; undefined: not listed yet. */
  private older: readonly ReachedOffset[] | undefined;
  private written = NO_OFFSET;

  /** @param cluster name of the cluster: several may share a store */
  constructor(
    private readonly store: EntryStore,
    cluster: string,
  ) {
    this.folder = `reached/${cluster.replaceAll(':', '.')}/`;
  }

  /** Of this log where there is one, else of any other. Undefined: nothing was ever published. */
  async newest(log: string): Promise<ReachedOffset | undefined> {
    const all = await this.all();
    return all.find((one) => one.log === log) ?? all[0];
  }

  /** Every log of which something was published. */
  async logs(): Promise<readonly string[]> {
    return [...new Set((await this.all()).map(({ log }) => log))];
  }

  /** Rejects as the store does. */
  async note({ log, offset }: ReachedOffset): Promise<void> {
    if (offset <= this.written) return;
    await this.store.put(this.nameOf({ log, offset }), Buffer.of());
    this.written = offset;
    const older = this.older ?? (await this.all());
    const gone = older.filter((one) => one.log !== log || one.offset < offset);
    for (const one of gone) await this.store.remove(this.nameOf(one));
    this.older = [{ log, offset }];
  }

  /** The largest offsets first. */
  private async all(): Promise<ReachedOffset[]> {
    const names = await this.store.list(this.folder);
    const all = names.flatMap((name) => {
      const [, offset = '', log = ''] = /^(\d+)-(.+)$/.exec(name.slice(this.folder.length)) ?? [];
      return offset === '' ? [] : [{ log, offset: Number(offset) }];
    });
    return all.sort((a, b) => b.offset - a.offset);
  }

  private nameOf({ log, offset }: ReachedOffset): string {
    return `${this.folder}${String(offset).padStart(OFFSET_DIGITS, '0')}-${log}`;
  }
}
