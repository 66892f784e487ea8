import { TesseraError } from '@tessera/errors';
import { bodyOf, type ClusterLog, type EntryStore, type ReadEntry } from '@tessera/log';
import { entriesOf } from './entries-of.js';

/** Kind of the entries by which a person refuses one that no node can apply: `{"offset": N}`. */
export const REFUSE = 'refuse';

/** Bodies of entries: in the entry, or in the store under the name that it has. */
export class BodyReader {
  constructor(
    private readonly log: ClusterLog,
    private readonly store: EntryStore,
  ) {}

  /**
   * Rejects with REQUEST_INVALID for a body that is none, alike on every node; with LOG_INCOMPLETE
   * for one that is gone, and as the store does.
   */
  async of({ text, stored }: ReadEntry, offset = 0): Promise<unknown> {
    const content = stored === '' ? text : await this.stored(stored, offset);
    try {
      return bodyOf(content);
    } catch (cause) {
      const message = `entry ${offset}: expected a body of JSON, got ${(cause as Error).message}`;
      throw new TesseraError('REQUEST_INVALID', message, { cause });
    }
  }

  private async stored(name: string, offset: number): Promise<string> {
    try {
      return Buffer.from(await this.store.get(name)).toString();
    } catch (thrown) {
      const error = TesseraError.from(thrown);
      if (error.code !== 'STORE_CORRUPT') throw error;
      const message =
        `${error.message}: the body of entry ${offset}. A node that has applied it makes a ` +
        `snapshot: restart this one then; where none has: npm run log -- refuse ${offset}`;
      throw new TesseraError('LOG_INCOMPLETE', message, { cause: error });
    }
  }

  /** A later entry says so. */
  async isRefused(offset: number): Promise<boolean> {
    const { end } = await this.log.bounds();
    for await (const { kind, text } of entriesOf(this.log, offset + 1, end)) {
      if (kind === REFUSE && text === JSON.stringify({ offset })) return true;
    }
    return false;
  }
}
