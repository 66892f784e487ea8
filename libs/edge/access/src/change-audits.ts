import { TesseraError } from '@tessera/errors';
import { MILLISECONDS_PER_SECOND } from '@tessera/units';
import type { AuditEntry, AuditLog } from './audit-log.js';

/** Lines of changes a second that are written one by one; what is beyond is summed up. */
export const NOTED_LINES_PER_SECOND = 20;
const DETAIL_LENGTH_MAX = 1000;
const NAME_LENGTH_MAX = 128;

/** A change with its actor and edge. */
export interface Change {
  readonly action: string;
  readonly actor: string;
  readonly edge: 'grpc' | 'http' | 'kafka';
  /** The thing that is changed: a user, a catalogue, a version; '' where it has no name. */
  readonly name: string;
  readonly detail?: string;
}

export interface ChangeAuditsParts {
  readonly log: Pick<AuditLog, 'write'>;
  /** A line that could not be written, of a change that had happened. */
  readonly onFailed: (error: TesseraError, entry: AuditEntry) => void;
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
}

interface Sum {
  readonly change: Change;
  readonly outcome: string;
  readonly calls: number;
}

/**
 * Changes in the audit log. Actions of administrators stand between two durable lines; changes
 * that come in streams (behaviours, changes of the catalogue, refusals) is one line each, written
 * behind the answer, and above NOTED_LINES_PER_SECOND one line a second for each kind: the log
 * grows with time and not with whoever calls.
 */
export class ChangeAudits {
  private second = 0;
  private lines = 0;
  private readonly sums = new Map<string, Sum>();
  private timer: NodeJS.Timeout | undefined;
  private readonly writing = new Set<Promise<void>>();

  constructor(private readonly parts: ChangeAuditsParts) {}

  /**
   * Does it between two lines of the audit log: what cannot be audited is not done, and rejects
   * with STORE_FULL or IO_FAILED. `detailOf` says how it ended.
   */
  async audited<Result>(
    change: Change,
    act: () => Promise<Result>,
    detailOf: (result: Result) => string = () => '',
  ): Promise<Result> {
    await this.parts.log.write(this.entry(change, 'begun'));
    try {
      const result = await act();
      await this.write({ ...change, detail: detailOf(result) }, 'OK');
      return result;
    } catch (thrown) {
      const { code, message } = TesseraError.from(thrown);
      await this.write({ ...change, detail: message }, code);
      throw thrown;
    }
  }

  /** Does it, and notes how it ended behind the answer. */
  async noted<Result>(
    change: Change,
    act: () => Promise<Result>,
    detailOf: (result: Result) => string = () => '',
  ): Promise<Result> {
    try {
      const result = await act();
      this.note({ ...change, detail: detailOf(result) }, 'OK');
      return result;
    } catch (thrown) {
      const { code, message } = TesseraError.from(thrown);
      this.note({ ...change, detail: message }, code);
      throw thrown;
    }
  }

  /** Notes a change that happened or was refused; nobody waits for its line. */
  note(change: Change, outcome: string): void {
    const second = Math.floor(this.parts.nowMs() / MILLISECONDS_PER_SECOND);
    if (second !== this.second) {
      this.second = second;
      this.lines = 0;
    }
    this.lines += 1;
    if (this.lines <= NOTED_LINES_PER_SECOND) {
      this.writeBehind(change, outcome);
      return;
    }
    const { action, actor, edge } = change;
    const key = JSON.stringify([action, actor, edge, outcome]);
    this.sums.set(key, { change, outcome, calls: (this.sums.get(key)?.calls ?? 0) + 1 });
    this.timer ??= setTimeout(() => this.writeSums(), MILLISECONDS_PER_SECOND).unref();
  }

  /** Writes the sums; the log stays open. */
  async close(): Promise<void> {
    this.writeSums();
    await Promise.all(this.writing);
  }

  private writeSums(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const sums = [...this.sums.values()];
    this.sums.clear();
    for (const { change, outcome, calls } of sums) {
      const detail = `${calls} calls within a second, the last of them: ${change.detail ?? ''}`;
      this.writeBehind({ ...change, name: '', detail }, outcome);
    }
  }

  private writeBehind(change: Change, outcome: string): void {
    const written = this.write(change, outcome);
    this.writing.add(written);
    void written.finally(() => this.writing.delete(written));
  }

  /** Never rejects: what has happened has happened. */
  private async write(change: Change, outcome: string): Promise<void> {
    const entry = this.entry(change, outcome);
    try {
      await this.parts.log.write(entry);
    } catch (thrown) {
      this.parts.onFailed(TesseraError.from(thrown), entry);
    }
  }

  private entry({ action, actor, edge, name, detail = '' }: Change, outcome: string): AuditEntry {
    return {
      timeMs: this.parts.nowMs(),
      action,
      actor,
      edge,
      outcome,
      digest: '',
      name: name.slice(0, NAME_LENGTH_MAX),
      detail: detail.slice(0, DETAIL_LENGTH_MAX),
    };
  }
}
