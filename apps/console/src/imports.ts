import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { type CatalogueChange, ChangeBatch, parseChangeLine } from '@tessera/catalogue';
import { TesseraError } from '@tessera/errors';
import { ConsoleParts } from './console-parts.js';

/** Files that are on their way at a time. */
const IMPORTS_MAX = 4;
/** Idle time after which an import gives its place to another. */
const IDLE_MS = 60_000;

interface Import {
  readonly batch: ChangeBatch;
  /** Lines of the changes of the batch. */
  readonly lines: number[];
  lineCount: number;
  touchedMs: number;
}

/** How far an import has come. */
export interface ImportState {
  readonly lineCount: number;
  readonly changeCount: number;
}

/**
 * Files of changes on their way: collected part by part, then applied as one batch, all or none.
 * An import that is cancelled or refused has changed nothing.
 */
@Injectable()
export class Imports {
  private readonly open = new Map<string, Import>();

  constructor(private readonly parts: ConsoleParts) {}

  /** @throws TesseraError STORE_FULL where too many are on their way */
  begin(): string {
    const now = this.parts.nowMs();
    if (this.open.size >= IMPORTS_MAX) {
      const idle = [...this.open].find(([, { touchedMs }]) => now - touchedMs > IDLE_MS);
      if (idle === undefined) {
        const message = `imports: expected at most ${IMPORTS_MAX} at a time, got another`;
        throw new TesseraError('STORE_FULL', message, { field: 'imports' });
      }
      this.open.delete(idle[0]);
    }
    const id = randomUUID();
    const batch = new ChangeBatch();
    this.open.set(id, { batch, lines: [], lineCount: 0, touchedMs: now });
    return id;
  }

  /**
   * @param text whole lines
   * @throws TesseraError CATALOGUE_INVALID naming line and member: then the import is given up
   */
  add(id: string, text: string): ImportState {
    const wanted = this.of(id);
    const changes: CatalogueChange[] = [];
    try {
      for (const line of text.replace(/\n$/, '').split('\n')) {
        wanted.lineCount += 1;
        if (line.trim() === '') continue;
        changes.push(parseChangeLine(line, wanted.lineCount));
        wanted.lines.push(wanted.lineCount);
      }
      wanted.batch.add(changes);
    } catch (thrown) {
      this.drop(id);
      throw thrown;
    }
    wanted.touchedMs = this.parts.nowMs();
    return { lineCount: wanted.lineCount, changeCount: wanted.batch.changeCount };
  }

  /** Rejects with CATALOGUE_INVALID or ITEM_NOT_FOUND naming line and member, and IO_FAILED. */
  async apply(id: string, source: string): Promise<ImportState & { readonly sequence: number }> {
    const { batch, lines, lineCount } = this.of(id);
    this.drop(id);
    const { changeCount } = batch;
    if (changeCount === 0) {
      const message = 'lines: expected at least one change, got none';
      throw new TesseraError('CATALOGUE_INVALID', message, { field: 'lines' });
    }
    const changes = this.parts.runtime.operations.changesOf('');
    const { sequence } = await changes.applyBatch(batch, source).catch((thrown: unknown) => {
      throw withLine(TesseraError.from(thrown), lines);
    });
    return { lineCount, changeCount, sequence };
  }

  drop(id: string): boolean {
    return this.open.delete(id);
  }

  private of(id: string): Import {
    const found = this.open.get(id);
    if (found !== undefined) return found;
    const message = `import: expected the ID of one on its way, got '${id.slice(0, 80)}'`;
    throw new TesseraError('ROUTE_NOT_FOUND', message, { field: 'import' });
  }
}

/** The catalogue counts the changes of the batch; who wrote the file counts its lines. */
function withLine(error: TesseraError, lines: readonly number[]): TesseraError {
  const [, index, member = ''] = /^changes\[(\d+)\](.*)$/.exec(error.field ?? '') ?? [];
  const line = index === undefined ? undefined : lines[Number(index)];
  if (line === undefined) return error;
  const reason = error.message.replace(/^changes\[\d+\]/, '');
  const message = `line ${line}${reason}`;
  return new TesseraError(error.code, message, { field: `lines[${line}]${member}`, cause: error });
}
