import { createHash, type Hash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { type CatalogueChange, parseChangeLine } from '@tessera/catalogue';
import { expecting, TesseraError } from '@tessera/errors';
import { diskError, FILE_SYSTEM, readRegular, replaceFile } from '@tessera/files';

const SECOND_MS = 1000;
/** Bytes of a file that remembers at most. */
const STATE_BYTES_MAX = 1 << 16;
const invalid = expecting('CATALOGUE_INVALID');

export interface AppliedFile {
  /** Changes of this run. */
  readonly applied: number;
  /** Lines of the file that a run before had applied. */
  readonly resumed: number;
  /** Of the last batch; 0 where there was none. */
  readonly sequence: number;
  /** Lines of this run that the service refused, and that were left out. */
  readonly badLines: number;
  /** Changes a second of this run. */
  readonly rate: number;
}

export interface FileSettings {
  /** Changes of a batch at most; each is applied all or none. */
  readonly batch: number;
  /** Lines that the service may refuse: their batch is applied without them. */
  readonly tolerated: number;
  /** Called with each of those, and why. */
  readonly onBadLine: (line: number, message: string) => void;
  /** File that remembers how far the changes are applied; undefined: nothing remembers it. */
  readonly resumePath: string | undefined;
  readonly onProgress: (stage: string, done: number, total: number, note: string) => void;
  /** Milliseconds of a clock that only rises. */
  readonly nowMs: () => number;
}

/** How far a file is applied. */
interface Remembered {
  readonly lines: number;
  /** SHA-256 of these lines, each with its end. */
  readonly digest: string;
  /** Under which the service knows the batches. */
  readonly name: string;
  /** Changes of a batch; the one that the service may have is sent as it was. */
  readonly batch: number;
}

/** A batch of an import to the service, which applies it once. */
interface ImportMark {
  readonly name: string;
  /** The last line of the batch. */
  readonly position: number;
}

/** A line that is not empty, with its number and what the lines up to it hash to. */
interface FileLine {
  readonly text: string;
  readonly number: number;
  readonly digest: () => string;
}

/** Lines of a file or a pipe. Rejects with IO_FAILED. */
async function* textLines(path: string): AsyncGenerator<string> {
  try {
    yield* createInterface({ input: createReadStream(path) });
  } catch (thrown) {
    throw diskError(thrown, path);
  }
}

/** Lines that are not empty. */
export async function* linesOf(path: string): AsyncGenerator<FileLine> {
  const hash: Hash = createHash('sha256');
  let number = 0;
  for await (const text of textLines(path)) {
    number += 1;
    hash.update(`${text}\n`);
    const digest = () => hash.copy().digest('hex');
    // The first may have a byte order mark.
    if (text.trim() !== '') yield { text: text.replace(/^\uFEFF/, ''), number, digest };
  }
}

/**
 * The changes of a file in batches, in their order. With a file that remembers, a run goes on
 * behind the last batch that a run before has seen applied. Where that one was killed before it
 * could remember a batch, the batch is sent again as it was, and the service knows it by its mark.
 * @throws TesseraError of a line or a batch at fault, with the place
 */
export async function applyFile(
  send: Send,
  path: string,
  settings: FileSettings,
): Promise<AppliedFile> {
  const { resumePath, onProgress, nowMs } = settings;
  const before = (await rememberedIn(resumePath)) ?? (await begun(settings));
  const { name, batch } = before;
  const total = await countLines(path);
  if (total < before.lines) throw othersThan(before, path, `${total} lines`);
  const beganMs = nowMs();
  const isMarked = resumePath !== undefined;
  const batches = new Batches(send, path, settings);
  const rate = () => {
    const seconds = (nowMs() - beganMs) / SECOND_MS;
    return seconds > 0 ? Math.round(batches.applied / seconds) : 0;
  };
  const flush = async ({ number: lines, digest }: FileLine) => {
    await batches.flush(isMarked ? { name, position: lines } : undefined);
    if (isMarked) await remember(resumePath, { lines, digest: digest(), name, batch });
    onProgress('lines applied', lines, total, `${rate()} changes a second`);
  };
  let last: FileLine | undefined;
  for await (const line of linesOf(path)) {
    if (isBehind(line, before, path)) continue;
    batches.add(line);
    last = line;
    if (batches.size === batch) await flush(line);
  }
  if (last !== undefined && batches.size > 0) await flush(last);
  if (resumePath !== undefined) await rm(resumePath, { force: true });
  const { applied, sequence, badLines } = batches;
  return { applied, resumed: before.lines, badLines, sequence, rate: rate() };
}

type Send = (
  changes: readonly CatalogueChange[],
  mark: ImportMark | undefined,
) => Promise<{ readonly sequence: number }>;

/** Refusals of a change itself, which it gets again however often it is sent. */
const LINE_FAULTS: ReadonlySet<string> = new Set(['CATALOGUE_INVALID', 'ITEM_NOT_FOUND']);

/** A change of a batch that a refusal names. */
const CHANGE_FIELD = /^changes\[(\d+)\]/;

/** Batches of lines, sent one after another. */
class Batches {
  applied = 0;
  sequence = 0;
  badLines = 0;
  private waiting: { readonly change: CatalogueChange; readonly line: number }[] = [];

  constructor(
    private readonly send: Send,
    private readonly path: string,
    private readonly settings: Pick<FileSettings, 'tolerated' | 'onBadLine'>,
  ) {}

  get size(): number {
    return this.waiting.length;
  }

  add({ text, number }: FileLine): void {
    try {
      this.waiting.push({ change: parseChangeLine(text, number), line: number });
    } catch (error) {
      throw this.placed(error, number);
    }
  }

  /** All that waits; without a line that is refused, as long as that is tolerated. */
  async flush(mark: ImportMark | undefined): Promise<void> {
    while (this.waiting.length > 0) {
      try {
        const changes = this.waiting.map(({ change }) => change);
        ({ sequence: this.sequence } = await this.send(changes, mark));
        this.applied += this.waiting.length;
        this.waiting = [];
      } catch (error) {
        this.leaveOut(error);
      }
    }
  }

  private leaveOut(thrown: unknown): void {
    const { code, field = '', message } = TesseraError.from(thrown);
    const place = Number(CHANGE_FIELD.exec(field)?.[1] ?? Number.NaN);
    const bad = LINE_FAULTS.has(code) ? this.waiting[place] : undefined;
    if (bad === undefined || this.badLines === this.settings.tolerated) {
      throw this.placed(thrown, bad?.line ?? this.waiting[0]?.line ?? 0);
    }
    this.badLines += 1;
    this.settings.onBadLine(bad.line, message);
    this.waiting.splice(place, 1);
  }

  private placed(thrown: unknown, line: number): TesseraError {
    const { code, message, field } = TesseraError.from(thrown);
    const done = `${this.applied} changes before were applied`;
    const text = `${this.path}, from line ${line}: ${message} (${done})`;
    return new TesseraError(code, text, { field, cause: thrown });
  }
}

/** True if a run before has applied a line; the last of those shows that they are the same. */
function isBehind({ number, digest }: FileLine, before: Remembered, path: string): boolean {
  if (number > before.lines) return false;
  if (number === before.lines && digest() !== before.digest) {
    throw othersThan(before, path, 'other ones');
  }
  return true;
}

const othersThan = ({ lines }: Remembered, path: string, got: string) =>
  invalid(path, `the ${lines} lines that were applied before`, got);

/** Remembered before anything is sent. */
async function begun({ resumePath, batch }: FileSettings): Promise<Remembered> {
  const nothing = { lines: 0, digest: '', name: randomUUID(), batch };
  if (resumePath !== undefined) await remember(resumePath, nothing);
  return nothing;
}

/** Undefined where no run before has begun. */
async function rememberedIn(path: string | undefined): Promise<Remembered | undefined> {
  if (path === undefined) return undefined;
  const bytes = await readRegular(path, STATE_BYTES_MAX).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  const text = bytes?.toString();
  if (text === undefined) return undefined;
  const { lines, digest, name, batch } = parsed(text) as Partial<Remembered>;
  const isWhole = [lines, batch].every(Number.isSafeInteger) && typeof digest === 'string';
  if (isWhole && typeof name === 'string') return { lines, digest, name, batch } as Remembered;
  throw invalid(path, 'what `catalogue apply --resume` wrote', text.slice(0, 80));
}

function parsed(text: string): object {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

function remember(path: string, state: Remembered): Promise<void> {
  return replaceFile(FILE_SYSTEM, path, `${JSON.stringify(state)}\n`, `${path}: how far it is`);
}

async function countLines(path: string): Promise<number> {
  let count = 0;
  for await (const _ of textLines(path)) count += 1;
  return count;
}
