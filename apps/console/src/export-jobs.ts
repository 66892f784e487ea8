import { randomUUID } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { Injectable } from '@nestjs/common';
import { TesseraError } from '@tessera/errors';
import type { ExportedFile, ExportFormat } from '@tessera/inspection';
import { MILLISECONDS_PER_MINUTE, MILLISECONDS_PER_SECOND } from '@tessera/units';
import type { ExportJob } from './api-types.js';
import { ConsoleParts } from './console-parts.js';
import { Recorded } from './recorded.js';

/** Exports on their way, or waiting to be fetched. */
const JOBS_MAX = 2;
/** A file is kept for so long. */
const KEPT_MS = 10 * MILLISECONDS_PER_MINUTE;

interface Job {
  readonly format: ExportFormat;
  readonly beganMs: number;
  readonly ending: AbortController;
  state: ExportJob['state'];
  file: ExportedFile | undefined;
  bytes: number;
  endedMs: number;
  message: string;
}

/** Exports that go on while nobody waits for them. */
@Injectable()
export class ExportJobs {
  private readonly jobs = new Map<string, Job>();

  constructor(
    private readonly parts: ConsoleParts,
    private readonly recorded: Recorded,
  ) {}

  /** @throws TesseraError OPERATION_BUSY where there are too many: the oldest that ended goes */
  begin(sql: string, format: ExportFormat, asker: string): ExportJob {
    const { store } = this.recorded;
    if (this.jobs.size >= JOBS_MAX) {
      const ended = [...this.jobs].find(([, { state }]) => state !== 'running');
      if (ended === undefined) {
        const message = `exports: expected at most ${JOBS_MAX} at a time, got another`;
        throw new TesseraError('OPERATION_BUSY', message, { field: 'exports' });
      }
      void this.remove(ended[0]);
    }
    const id = randomUUID();
    const ending = new AbortController();
    const beganMs = this.parts.nowMs();
    const nothing = { file: undefined, bytes: 0, endedMs: 0, message: '' };
    const job: Job = { format, beganMs, ending, state: 'running', ...nothing };
    this.jobs.set(id, job);
    const { exportRowsMax: rowsMax, exportSeconds } = this.parts.limits;
    const limits = { rowsMax, timeoutMs: exportSeconds * MILLISECONDS_PER_SECOND, asker };
    void this.finish(id, job, store.exportTo(sql, format, limits, ending.signal));
    return this.shown(id, job);
  }

  /** @throws TesseraError ROUTE_NOT_FOUND where there is none of the ID */
  state(id: string): ExportJob {
    return this.shown(id, this.of(id));
  }

  /** @throws TesseraError OPERATION_BUSY while it is on its way */
  file(id: string): { readonly format: ExportFormat; readonly file: ExportedFile } {
    const { file, format, message, state } = this.of(id);
    if (file !== undefined) return { file, format };
    const code = state === 'running' ? 'OPERATION_BUSY' : 'STORE_UNAVAILABLE';
    const reason = message || 'expected an export that has ended, got one on its way';
    throw new TesseraError(code, `exports: ${reason}`, { field: 'exports' });
  }

  /** Ends it, and removes its file. False: there was none. */
  async remove(id: string): Promise<boolean> {
    const job = this.jobs.get(id);
    if (job === undefined) return false;
    this.jobs.delete(id);
    job.ending.abort();
    await job.file?.release();
    return true;
  }

  private of(id: string): Job {
    const job = this.jobs.get(id);
    if (job !== undefined) return job;
    const message = `exports: expected the ID of one that is kept, got '${id.slice(0, 80)}'`;
    throw new TesseraError('ROUTE_NOT_FOUND', message, { field: 'exports' });
  }

  private async finish(id: string, job: Job, exported: Promise<ExportedFile>): Promise<void> {
    try {
      const file = await exported;
      const { size } = await stat(file.path);
      if (!this.jobs.has(id)) {
        await file.release();
        return;
      }
      Object.assign(job, { file, bytes: size, state: 'done' });
      // One whose data was erased is nobody's any more.
      file.ended.addEventListener('abort', () => void this.remove(id), { once: true });
    } catch (thrown) {
      Object.assign(job, { state: 'failed', message: TesseraError.from(thrown).message });
    }
    job.endedMs = this.parts.nowMs();
    setTimeout(() => void this.remove(id), KEPT_MS).unref();
  }

  private shown(id: string, { state, format, bytes, beganMs, endedMs, message }: Job): ExportJob {
    const milliseconds = (endedMs || this.parts.nowMs()) - beganMs;
    return { id, state, format, bytes, milliseconds, message };
  }
}
