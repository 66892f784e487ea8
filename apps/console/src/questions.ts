import { TesseraError } from '@tessera/errors';
import { type Disk, readRegular, replaceFile } from '@tessera/files';
import type { SavedQuestion } from './api-types.js';
import { invalid } from './fields.js';

export const QUESTIONS_MAX = 500;
const BYTES_MAX = 64 * 2 ** 20;

/** Questions in SQL that analysts keep for each other, in one file that is written as a whole. */
export class QuestionFile {
  private turn: Promise<unknown> = Promise.resolve();

  /** @param path '': none can be kept */
  constructor(
    private readonly path: string,
    private readonly disk: Disk,
  ) {}

  /** Questions by name. Rejects with IO_FAILED for a file that is damaged. */
  list(): Promise<readonly SavedQuestion[]> {
    return this.inTurn(() => this.read());
  }

  /**
   * Takes the place of the one of the same name.
   * @param check throws where that one may not be replaced
   */
  save(question: SavedQuestion, check: (old: SavedQuestion) => void): Promise<void> {
    return this.inTurn(async () => {
      const all = await this.read();
      const old = all.find(({ name }) => name === question.name);
      if (old !== undefined) check(old);
      else if (all.length >= QUESTIONS_MAX) {
        throw invalid('name', `at most ${QUESTIONS_MAX} questions; remove one`, 'one more');
      }
      await this.write([...all.filter((one) => one !== old), question]);
    });
  }

  /**
   * False: there was none of the name.
   * @param check throws where it may not be removed
   */
  remove(name: string, check: (old: SavedQuestion) => void): Promise<boolean> {
    return this.inTurn(async () => {
      const all = await this.read();
      const old = all.find((one) => one.name === name);
      if (old === undefined) return false;
      check(old);
      await this.write(all.filter((one) => one !== old));
      return true;
    });
  }

  private async read(): Promise<readonly SavedQuestion[]> {
    if (this.path === '') return [];
    try {
      const text = (await readRegular(this.path, BYTES_MAX)).toString();
      return JSON.parse(text) as SavedQuestion[];
    } catch (thrown) {
      if ((thrown as { code?: unknown }).code === 'ENOENT') return [];
      const message = `the saved questions in ${this.path} cannot be read`;
      throw new TesseraError('IO_FAILED', message, { cause: thrown });
    }
  }

  private async write(all: readonly SavedQuestion[]): Promise<void> {
    if (this.path === '') {
      const message = 'inspection.path: expected a folder to keep questions in, got none';
      throw new TesseraError('STORE_UNAVAILABLE', message, { field: 'inspection.path' });
    }
    const sorted = [...all].sort((a, b) => (a.name < b.name ? -1 : 1));
    await replaceFile(this.disk, this.path, JSON.stringify(sorted), 'the saved questions');
  }

  private inTurn<Answer>(act: () => Promise<Answer>): Promise<Answer> {
    const done = this.turn.then(act);
    this.turn = done.catch(() => undefined);
    return done;
  }
}
