import { join } from 'node:path';
import { expecting, TesseraError } from '@tessera/errors';
import { type Disk, FILE_SYSTEM, replaceFile } from '@tessera/files';
import type { ImportMark } from '../domain/import-mark.js';

const NAME = 'imports.json';
/** Imports whose positions are kept; those that were used least recently go first. */
export const IMPORTS_MAX = 1000;
const NAME_LENGTH_MAX = 128;

const invalid = expecting('CATALOGUE_INVALID');

/** A batch that was on its way to the log, behind version `after`. */
interface Intent extends ImportMark {
  readonly after: number;
}

interface Kept {
  readonly positions: readonly (readonly [name: string, position: number])[];
  readonly intent: Intent | null;
}

/**
 * How far imports have been applied, so that no batch counts twice: a delta that is sent again adds
 * nothing. Before a batch goes to the log of changes, the file says so, with the version that is
 * the newest then; nobody else writes until it is through. After a crash the version of the log is
 * a higher one exactly where the batch is in it.
 */
export class ImportMarks {
  /** An intent whose batch was not applied is still in the file: nothing may be written. */
  private isStale = false;

  private constructor(
    private readonly path: string,
    private readonly positions: Map<string, number>,
    private readonly disk: Disk,
  ) {}

  /** End with the process. */
  static unkept(): ImportMarks {
    return new ImportMarks('', new Map(), FILE_SYSTEM);
  }

  /**
   * Opens the marks in the folder of the changes, '' for none.
   * @param sequence the newest version of the log, before anything is written to it
   * @throws TesseraError CATALOGUE_CORRUPT, IO_FAILED, STORE_FULL
   */
  static async open(folder: string, sequence: number, disk = FILE_SYSTEM): Promise<ImportMarks> {
    if (folder === '') return ImportMarks.unkept();
    const path = join(folder, NAME);
    const { positions, intent } = parsed(path, await disk.read(path));
    const marks = new ImportMarks(path, new Map(positions), disk);
    if (intent === null) return marks;
    if (sequence > intent.after) marks.note(intent);
    await marks.keep(null);
    return marks;
  }

  /** True if the batch has been applied. @throws TesseraError CATALOGUE_INVALID: a bad mark */
  has(mark: ImportMark): boolean {
    check(mark);
    return mark.position <= (this.positions.get(mark.name) ?? -1);
  }

  /**
   * Applies a batch of an import, as the only writer.
   * @param sequence the newest version
   * @throws TesseraError as apply(); STORE_FULL, IO_FAILED
   */
  async applying<T>(mark: ImportMark, sequence: number, apply: () => Promise<T>): Promise<T> {
    const intent = { ...mark, after: sequence };
    // Undone by settle() where it cannot be told whether it is in the file.
    this.isStale = this.path !== '';
    await this.keep(intent);
    try {
      const applied = await apply();
      this.note(mark);
      this.isStale = false;
      return applied;
    } catch (thrown) {
      await this.settle().catch(() => undefined);
      throw thrown;
    }
  }

  /** Before anything is written to the log. @throws TesseraError STORE_FULL, IO_FAILED */
  async settle(): Promise<void> {
    if (!this.isStale) return;
    await this.keep(null);
    this.isStale = false;
  }

  private note({ name, position }: ImportMark): void {
    this.positions.delete(name);
    this.positions.set(name, position);
    for (const oldest of this.positions.keys()) {
      if (this.positions.size <= IMPORTS_MAX) break;
      this.positions.delete(oldest);
    }
  }

  private async keep(intent: Intent | null): Promise<void> {
    if (this.path === '') return;
    const kept: Kept = { positions: [...this.positions], intent };
    await replaceFile(this.disk, this.path, `${JSON.stringify(kept)}\n`, 'how far an import is');
  }
}

function check({ name, position }: ImportMark): void {
  if (name === '' || name.length > NAME_LENGTH_MAX) {
    throw invalid('importMark.name', `1..${NAME_LENGTH_MAX} characters`, name.slice(0, 200));
  }
  if (!Number.isSafeInteger(position) || position < 0) {
    throw invalid('importMark.position', `0..${Number.MAX_SAFE_INTEGER}`, position);
  }
}

function parsed(path: string, content: Buffer | undefined): Kept {
  if (content === undefined) return { positions: [], intent: null };
  try {
    const { positions, intent } = JSON.parse(content.toString()) as Kept;
    const all = intent === null ? positions : [...positions, [intent.name, intent.position]];
    for (const [name, position] of all) {
      check({ name: name as string, position: position as number });
    }
    if (intent !== null && !Number.isSafeInteger(intent.after)) throw new Error('intent.after');
    return { positions, intent };
  } catch (cause) {
    const message = `${path}: expected how far imports are, got ${(cause as Error).message}`;
    throw new TesseraError('CATALOGUE_CORRUPT', message, { cause });
  }
}
