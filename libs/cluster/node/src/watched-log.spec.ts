import { TesseraError } from '@tessera/errors';
import { type Admit, type ClusterLog, type LogBounds, NO_OFFSET } from '@tessera/log';
import { MemoryEntryStore } from '@tessera/testing';
import { expect, it } from 'vitest';
import { History } from './domain/history.js';
import { Reached } from './reached.js';
import { WatchedLog } from './watched-log.js';

const LOG = 'log-1';
const bounds = (end: number): LogBounds => ({ identity: LOG, first: 1, end, anew: undefined });
const position = (offset: number) => ({ log: LOG, offset, chain: '', entry: '', erased: '' });

/** A log whose end is read when `answer` says so, and whose members are as `reached` says. */
function watched() {
  let reached = NO_OFFSET;
  const reads: ((end: number) => void)[] = [];
  const appends: Admit[] = [];
  const log = {
    place: 'memory',
    bounds: () =>
      new Promise<LogBounds>((resolve) => reads.push((end: number) => resolve(bounds(end)))),
    positions: async () => [{ log: LOG, offset: reached, standing: 'serving', ageMs: 0 }],
    append: (_bytes: Uint8Array, _after: unknown, admit: Admit) =>
      new Promise<number>(() => appends.push(admit)),
  } as unknown as ClusterLog;
  const watchedLog = new WatchedLog(log, new Reached(new MemoryEntryStore(), 'c'));
  const hear = async (offset: number) => {
    reached = offset;
    await watchedLog.positions();
  };
  return { watchedLog, hear, reads, appends };
}

it('takes no entry for lost that came while the end of the log was read', async () => {
  const { watchedLog, hear, reads } = watched();
  const history = new History(position(5), 'memory');
  watchedLog.own = history;
  await hear(5);
  const read = watchedLog.bounds();
  await hear(7);
  history.moveTo(position(6));
  reads[0]?.(5);
  expect(await read).toMatchObject({ end: 5 });
});

it('takes those for lost that were there before it was read', async () => {
  const { watchedLog, hear, reads } = watched();
  await hear(7);
  const read = watchedLog.bounds();
  reads[0]?.(6);
  await expect(read).rejects.toThrow('expected log log-1 with entries up to 7');
  watchedLog.own = new History(position(8), 'memory');
  const own = watchedLog.bounds();
  reads[1]?.(7);
  await expect(own).rejects.toThrow(TesseraError);
});

it('lets an append follow an end that had all when it was asked for', async () => {
  const { watchedLog, hear, appends } = watched();
  await hear(5);
  void watchedLog.append(Buffer.of(), { offset: 5, chain: '' });
  await hear(7);
  const end = (at: number) => ({ identity: LOG, end: at, anew: undefined });
  expect(() => appends[0]?.(end(5))).not.toThrow();
  expect(() => appends[0]?.(end(4))).toThrow('up to 5');
});
