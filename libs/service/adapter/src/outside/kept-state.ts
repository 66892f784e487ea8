import { createHash } from 'node:crypto';
import { TesseraError } from '@tessera/errors';
import { type Disk, replaceFile } from '@tessera/files';

const FORMAT = 2;
/** Without a checksum and a copy. */
const FORMAT_BEFORE = 1;

/**
 * A small document that must not be lost: a file with a checksum, and a copy beside it. Each is
 * replaced as a whole, the copy first, so that a crash leaves the old document or the new one, and
 * damage to one file loses nothing.
 */
export class KeptState {
  private readonly copyPath: string;
  /** Text that was read, where it is of the former format: kept beside its successor. */
  private before: string | undefined;

  constructor(
    private readonly disk: Disk,
    readonly path: string,
    private readonly what: string,
  ) {
    this.copyPath = path.replace(/\.json$/, '.copy.json');
  }

  /**
   * The document as `parse` makes it of its members, and whether it must be written anew: because
   * one of the files is missing, damaged or older. Undefined where neither file is there. Rejects
   * with what `parse` throws, STORE_NEWER for a document of a newer release, or an Error that says
   * what is wrong with the file.
   */
  async read<State>(
    parse: (members: unknown) => State,
  ): Promise<{ readonly state: State; readonly isStale: boolean } | undefined> {
    const texts = await Promise.all([this.disk.read(this.path), this.disk.read(this.copyPath)]);
    if (texts.every((text) => text === undefined)) return undefined;
    this.before = texts.map((text) => text?.toString()).find(isOfFormatBefore);
    const read = texts.map((text) => attempt(() => parsed(text, parse)));
    for (const one of read) if ('error' in one && isNewer(one.error)) throw this.newer(one.error);
    const [first, second] = read as [(typeof read)[number], (typeof read)[number]];
    if ('value' in first) return { state: first.value, isStale: !('value' in second) };
    if ('value' in second) return { state: second.value, isStale: true };
    throw first.error;
  }

  private newer(cause: unknown): TesseraError {
    const { message } = TesseraError.from(cause);
    return new TesseraError('STORE_NEWER', `${this.path}: ${message}`, { cause });
  }

  /** Resolves when it is durable. Rejects with STORE_FULL or IO_FAILED: the old state stands. */
  async write(members: Readonly<Record<string, unknown>>): Promise<void> {
    const document = { format: FORMAT, checksum: checksumOf(members), ...members };
    const text = `${JSON.stringify(document, null, 1)}\n`;
    if (this.before !== undefined) {
      const kept = this.path.replace(/\.json$/, `.v${FORMAT_BEFORE}.json`);
      await replaceFile(this.disk, kept, this.before, this.what);
      this.before = undefined;
    }
    await replaceFile(this.disk, this.copyPath, text, this.what);
    await replaceFile(this.disk, this.path, text, this.what);
  }
}

function isOfFormatBefore(text: string | undefined): boolean {
  const read = attempt(() => JSON.parse(text ?? '').format as unknown);
  return 'value' in read && read.value === FORMAT_BEFORE;
}

export function isNewer(thrown: unknown): boolean {
  return thrown instanceof TesseraError && thrown.code === 'STORE_NEWER';
}

function attempt<Value>(act: () => Value): { readonly value: Value } | { readonly error: unknown } {
  try {
    return { value: act() };
  } catch (error) {
    return { error };
  }
}

function parsed<State>(text: Buffer | undefined, parse: (members: unknown) => State): State {
  if (text === undefined) throw new Error('no such file');
  const { format, checksum, ...members } = JSON.parse(text.toString('utf8'));
  if (format === FORMAT_BEFORE) return parse(members);
  if (typeof format === 'number' && format > FORMAT) {
    const message = `expected format ${FORMAT} at most, got ${format}, which a newer release wrote`;
    throw new TesseraError('STORE_NEWER', message);
  }
  if (format !== FORMAT) throw new Error(`expected format ${FORMAT}, got ${format}`);
  if (checksum !== checksumOf(members)) throw new Error('expected its checksum, got another');
  return parse(members);
}

function checksumOf(members: Readonly<Record<string, unknown>>): string {
  return createHash('sha256').update(JSON.stringify(members)).digest('hex');
}
