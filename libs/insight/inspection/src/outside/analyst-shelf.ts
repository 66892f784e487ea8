import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { TesseraError } from '@tessera/errors';
import { FILE_SYSTEM, replaceFile, wipeFile } from '@tessera/files';
import {
  COMPARISONS_MAX,
  type ComparisonSummary,
  type Note,
  type SavedComparison,
  type SavedSet,
  type Shelf,
} from '../domain/inspection-store.js';

const FILE = /^[0-9a-f]{64}\.json$/;

/** Things of one kind, each in a file of JSON that is written whole, and overwritten at its end. */
class KeptFiles<Kept extends object> {
  private loading: Promise<Map<string, Kept>> | undefined;

  /** @param held part of each that is in memory */
  constructor(
    private readonly folder: string,
    private readonly nameOf: (kept: Kept) => string,
    private readonly held: (kept: Kept) => Kept = (kept) => kept,
  ) {}

  /** Kept things by name. Rejects with IO_FAILED for a file that is damaged. */
  async all(): Promise<ReadonlyMap<string, Kept>> {
    return this.loaded();
  }

  async put(kept: Kept): Promise<void> {
    const name = this.nameOf(kept);
    const all = await this.loaded();
    await FILE_SYSTEM.makeFolder(this.folder);
    await replaceFile(FILE_SYSTEM, this.pathOf(name), JSON.stringify(kept), 'work of analysts');
    all.set(name, this.held(kept));
  }

  /** False: there was none of the name. */
  async remove(name: string): Promise<boolean> {
    const all = await this.loaded();
    if (!all.has(name)) return false;
    await wipeFile(this.pathOf(name));
    return all.delete(name);
  }

  /** Thing as it was kept; undefined where there is none of the name. */
  async whole(name: string): Promise<Kept | undefined> {
    if (!(await this.loaded()).has(name)) return undefined;
    return this.read(this.pathOf(name));
  }

  private loaded(): Promise<Map<string, Kept>> {
    this.loading ??= this.load().catch((thrown: unknown) => {
      this.loading = undefined;
      throw thrown;
    });
    return this.loading;
  }

  private async load(): Promise<Map<string, Kept>> {
    const all = new Map<string, Kept>();
    for (const file of await FILE_SYSTEM.list(this.folder)) {
      if (!FILE.test(file)) continue;
      const kept = await this.read(join(this.folder, file));
      if (kept !== undefined) all.set(this.nameOf(kept), this.held(kept));
    }
    return all;
  }

  private async read(path: string): Promise<Kept | undefined> {
    const text = (await FILE_SYSTEM.read(path))?.toString() ?? '';
    // A crash came between its being overwritten and its end.
    if (text === '' || text.startsWith('\0')) {
      await wipeFile(path);
      return undefined;
    }
    try {
      return JSON.parse(text) as Kept;
    } catch (cause) {
      throw new TesseraError('IO_FAILED', `${path}: expected work of analysts`, { cause });
    }
  }

  private pathOf(name: string): string {
    return join(this.folder, `${createHash('sha256').update(name).digest('hex')}.json`);
  }
}

/** Folders of the shelf, by the names of their tables. */
export const SHELF_FOLDERS = ['notes', 'sets', 'comparisons'] as const;

/** Work of analysts: notes, sets of recalls, comparisons. */
export class AnalystShelf implements Shelf {
  private readonly noteFiles: KeptFiles<Note>;
  private readonly setFiles: KeptFiles<SavedSet>;
  private readonly comparisonFiles: KeptFiles<SavedComparison>;

  constructor(folder: string) {
    this.noteFiles = new KeptFiles(join(folder, 'notes'), ({ id }) => id);
    this.setFiles = new KeptFiles(join(folder, 'sets'), ({ name }) => name);
    const withoutDetail = (kept: SavedComparison) => ({ ...kept, detail: '' });
    this.comparisonFiles = new KeptFiles(
      join(folder, 'comparisons'),
      ({ id }) => id,
      withoutDetail,
    );
  }

  async notes(recallId: string): Promise<readonly Note[]> {
    const all = [...(await this.noteFiles.all()).values()];
    const found = all.filter((note) => note.recallId === recallId);
    return found.sort((a, b) => a.timeMs - b.timeMs || (a.id < b.id ? -1 : 1));
  }

  addNote(note: Note): Promise<void> {
    return this.noteFiles.put(note);
  }

  removeNote(id: string): Promise<boolean> {
    return this.noteFiles.remove(id);
  }

  async savedSets(): Promise<readonly SavedSet[]> {
    const all = [...(await this.setFiles.all()).values()];
    return all.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  saveSet(set: SavedSet): Promise<void> {
    return this.setFiles.put(set);
  }

  removeSet(name: string): Promise<boolean> {
    return this.setFiles.remove(name);
  }

  async comparisons(): Promise<readonly ComparisonSummary[]> {
    return (await this.newestComparisons()).map(summaryOf);
  }

  async comparison(id: string): Promise<(ComparisonSummary & { detail: string }) | undefined> {
    const found = await this.comparisonFiles.whole(id);
    return found && { ...summaryOf(found), detail: found.detail };
  }

  async saveComparison(comparison: SavedComparison): Promise<void> {
    await this.comparisonFiles.put(comparison);
    const all = await this.newestComparisons();
    for (const { id } of all.slice(COMPARISONS_MAX)) await this.removeComparison(id);
  }

  async removeComparison(id: string): Promise<boolean> {
    for (const note of await this.notes(id)) await this.removeNote(note.id);
    return this.comparisonFiles.remove(id);
  }

  /** Comparisons with the user, and notes on these and on the recalls: their bytes are gone. */
  async forget(userId: string, recallIds: readonly string[]): Promise<void> {
    const gone = new Set(recallIds);
    for (const { id, userIds } of await this.newestComparisons()) {
      if (userIds.includes(userId)) await this.removeComparison(id);
    }
    for (const { id, recallId } of [...(await this.noteFiles.all()).values()]) {
      if (gone.has(recallId)) await this.removeNote(id);
    }
  }

  private async newestComparisons(): Promise<SavedComparison[]> {
    const all = [...(await this.comparisonFiles.all()).values()];
    return all.sort((a, b) => b.timeMs - a.timeMs || (a.id < b.id ? -1 : 1));
  }
}

function summaryOf({ userIds: _users, detail: _detail, ...summary }: SavedComparison) {
  return summary satisfies ComparisonSummary;
}
