import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { TesseraError } from '@tessera/errors';

const NEW_LINE = 10;
/** Maximum bytes, from the end of the file, that are searched. */
export const AUDIT_READ_BYTES_MAX = 1 << 20;
/** Lines that wait for the disk at most; further ones are refused. */
const AUDIT_LINES_WAITING_MAX = 10_000;

/** An action with its actor, time and outcome. */
export interface AuditEntry {
  /** Milliseconds since 1970. */
  readonly timeMs: number;
  readonly action: string;
  readonly actor: string;
  readonly name: string;
  /** Empty where the action names none. */
  readonly digest: string;
  /** `begun` before the action; OK or an error code after it. */
  readonly outcome: string;
  readonly detail: string;
  /** Role of the actor in the console; left out: another edge. */
  readonly role?: string;
  /** Edge of the action: grpc, http or kafka; left out: the console, or the service itself. */
  readonly edge?: string;
}

/** Entries that were read back. */
export interface AuditsRead {
  /** Newest first. */
  readonly entries: readonly AuditEntry[];
  /** Older ones were not looked at. */
  readonly isWhole: boolean;
}

/** Lines since the log was opened. */
export interface AuditCounts {
  readonly written: number;
  readonly failed: number;
}

interface WaitingLine {
  readonly line: string;
  readonly resolve: () => void;
  readonly reject: (error: TesseraError) => void;
}

/** One line of JSON for each entry, in a file that is only ever added to. */
export class AuditLog {
  private readonly waiting: WaitingLine[] = [];
  private writing: Promise<void> | undefined;
  private written = 0;
  private failed = 0;
  /** The last write failed: a part of a line may be there. */
  private isTorn = false;

  private constructor(
    private readonly file: Awaited<ReturnType<typeof open>>,
    private readonly path: string,
  ) {}

  /** Rejects with IO_FAILED. A line that a crash has cut off stays, closed. */
  static async open(path: string): Promise<AuditLog> {
    try {
      await mkdir(dirname(path), { recursive: true });
      const file = await open(path, 'a+');
      const { size } = await file.stat();
      const { buffer } = await file.read(Buffer.alloc(1), 0, 1, Math.max(0, size - 1));
      if (size > 0 && buffer[0] !== NEW_LINE) await file.appendFile('\n');
      return new AuditLog(file, path);
    } catch (cause) {
      throw failed(path, cause);
    }
  }

  get counts(): AuditCounts {
    return { written: this.written, failed: this.failed };
  }

  /** Resolves when the line is durable. Rejects with STORE_FULL or IO_FAILED. */
  write(entry: AuditEntry): Promise<void> {
    const { timeMs, ...rest } = entry;
    const line = `${JSON.stringify({ time: new Date(timeMs).toISOString(), ...rest })}\n`;
    if (this.waiting.length >= AUDIT_LINES_WAITING_MAX) {
      this.failed += 1;
      const waiting = new Error(`${AUDIT_LINES_WAITING_MAX} lines wait for the disk`);
      return Promise.reject(failed(this.path, waiting));
    }
    return new Promise((resolve, reject) => {
      this.waiting.push({ line, resolve, reject });
      this.writing ??= this.writeWaiting();
    });
  }

  /** The newest that are wanted. Rejects with IO_FAILED. */
  async newest(countMax: number, isWanted: (entry: AuditEntry) => boolean): Promise<AuditsRead> {
    try {
      const { size } = await this.file.stat();
      const start = Math.max(0, size - AUDIT_READ_BYTES_MAX);
      const { buffer, bytesRead } = await this.file.read({
        buffer: Buffer.alloc(size - start),
        position: start,
      });
      const lines = buffer.toString('utf8', 0, bytesRead).split('\n');
      // The first of them may lack its beginning.
      const whole = start === 0 ? lines : lines.slice(1);
      const wanted = whole.flatMap(entryOf).filter(isWanted).reverse();
      return {
        entries: wanted.slice(0, countMax),
        isWhole: start === 0 && wanted.length <= countMax,
      };
    } catch (cause) {
      throw failed(this.path, cause);
    }
  }

  async close(): Promise<void> {
    await this.writing;
    await this.file.close();
  }

  /** Lines that arrive during a write go with the next one: one sync for all of them. */
  private async writeWaiting(): Promise<void> {
    // Lines of the same turn go together.
    await Promise.resolve();
    while (this.waiting.length > 0) {
      const batch = this.waiting.splice(0);
      try {
        const start = this.isTorn ? '\n' : '';
        await this.file.appendFile(start + batch.map(({ line }) => line).join(''));
        await this.file.datasync();
        this.isTorn = false;
        this.written += batch.length;
        for (const { resolve } of batch) resolve();
      } catch (cause) {
        this.isTorn = true;
        this.failed += batch.length;
        for (const { reject } of batch) reject(failed(this.path, cause));
      }
    }
    // In the turn that has seen that nothing waits: what comes later begins anew.
    this.writing = undefined;
  }
}

/** Empty for a line that a crash has cut off. */
function entryOf(line: string): AuditEntry[] {
  try {
    const { time, ...rest } = JSON.parse(line) as Omit<AuditEntry, 'timeMs'> & { time: string };
    return [{ timeMs: Date.parse(time), ...rest }];
  } catch {
    return [];
  }
}

function failed(path: string, cause: unknown): TesseraError {
  const { code, message } = cause as NodeJS.ErrnoException;
  const text = `the audit log ${path} could not be written or read: ${message}`;
  return new TesseraError(code === 'ENOSPC' ? 'STORE_FULL' : 'IO_FAILED', text, { cause });
}
