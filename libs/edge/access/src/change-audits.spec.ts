/** How changes come into the audit log: nothing in silence, and no more than the log can bear. */

import { TesseraError } from '@tessera/errors';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type AuditEntry,
  type Change,
  ChangeAudits,
  EdgeGuard,
  type Holder,
  NOTED_LINES_PER_SECOND,
} from './index.js';

const START_MS = 1_900_000_000_000;
const change: Change = { action: 'erase-user', actor: 'ann', edge: 'grpc', name: 'u' };

beforeEach(() => {
  vi.useFakeTimers({ now: START_MS });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Audits to a log that fails as long as the disk is full. */
function auditsTo(disk = { isFull: false }) {
  const written: AuditEntry[] = [];
  const failed: AuditEntry[] = [];
  const write = async (entry: AuditEntry) => {
    if (disk.isFull) throw new TesseraError('STORE_FULL', 'no room');
    written.push(entry);
  };
  const onFailed = (_error: TesseraError, entry: AuditEntry) => failed.push(entry);
  const audits = new ChangeAudits({ log: { write }, onFailed, nowMs: Date.now });
  const lines = () =>
    written.map(({ action, outcome, detail }) => `${action} ${outcome} ${detail}`);
  return { audits, written, failed, lines };
}

describe('what administrators do', () => {
  it('stands between two lines with how it ended', async () => {
    const { audits, lines, written } = auditsTo();
    expect(await audits.audited(change, async () => 7, String)).toBe(7);
    const refused = audits.audited(change, async () => {
      throw new TesseraError('USER_NOT_FOUND', 'nobody');
    });
    await expect(refused).rejects.toMatchObject({ code: 'USER_NOT_FOUND' });
    expect(lines()).toEqual([
      ...['erase-user begun ', 'erase-user OK 7'],
      ...['erase-user begun ', 'erase-user USER_NOT_FOUND nobody'],
    ]);
    expect(written[0]).toMatchObject({ actor: 'ann', edge: 'grpc', name: 'u', timeMs: START_MS });
  });

  it('is not done where its beginning cannot be written', async () => {
    const { audits } = auditsTo({ isFull: true });
    const act = vi.fn(async () => undefined);
    await expect(audits.audited(change, act)).rejects.toMatchObject({ code: 'STORE_FULL' });
    expect(act).not.toHaveBeenCalled();
  });

  it('has happened where its end cannot be written, and that is reported', async () => {
    const disk = { isFull: false };
    const { audits, failed } = auditsTo(disk);
    const done = audits.audited(change, async () => {
      disk.isFull = true;
      return 'done';
    });
    expect(await done).toBe('done');
    expect(failed).toMatchObject([{ action: 'erase-user', outcome: 'OK' }]);
  });
});

describe('what comes in streams', () => {
  it('is a line each up to a number a second, and one line for all beyond it', async () => {
    const { audits, written } = auditsTo();
    const beyond = 500;
    for (let call = 0; call < NOTED_LINES_PER_SECOND + beyond; call += 1) {
      await audits.noted({ ...change, action: 'apply-changes' }, async () => call, String);
    }
    expect(written).toHaveLength(NOTED_LINES_PER_SECOND);
    await vi.advanceTimersByTimeAsync(1000);
    expect(written).toHaveLength(NOTED_LINES_PER_SECOND + 1);
    const last = NOTED_LINES_PER_SECOND + beyond - 1;
    const detail = `${beyond} calls within a second, the last of them: ${last}`;
    expect(written.at(-1)).toMatchObject({ action: 'apply-changes', name: '', detail });
    audits.note(change, 'OK');
    await audits.close();
    expect(written).toHaveLength(NOTED_LINES_PER_SECOND + 2);
  });

  it('is summed up by who did what with which outcome, and none is lost at the end', async () => {
    const { audits, written } = auditsTo();
    for (let call = 0; call < NOTED_LINES_PER_SECOND; call += 1) audits.note(change, 'OK');
    for (const actor of ['ann', 'bob']) {
      for (const outcome of ['OK', 'USER_NOT_FOUND']) audits.note({ ...change, actor }, outcome);
    }
    await audits.close();
    const sums = written.slice(NOTED_LINES_PER_SECOND);
    expect(sums.map(({ actor, outcome }) => [actor, outcome])).toEqual([
      ...[
        ['ann', 'OK'],
        ['ann', 'USER_NOT_FOUND'],
      ],
      ...[
        ['bob', 'OK'],
        ['bob', 'USER_NOT_FOUND'],
      ],
    ]);
  });

  it('is answered where its line cannot be written, and that is reported', async () => {
    const { audits, failed } = auditsTo({ isFull: true });
    expect(await audits.noted(change, async () => 'stored')).toBe('stored');
    await audits.close();
    expect(failed).toMatchObject([{ action: 'erase-user', outcome: 'OK' }]);
  });
});

describe('the guard of an edge', () => {
  const holder: Holder = { name: 'ann', scopes: ['recall'], reach: new Set(['recall']) };

  function guardOf(edge: 'grpc' | 'http') {
    const { audits, written } = auditsTo();
    const refused: string[] = [];
    const guard = new EdgeGuard({
      edge,
      host: '0.0.0.0',
      changes: audits,
      control: { identify: () => holder },
      onRefused: (of, code) => refused.push(`${of} ${code}`),
    });
    return { guard, refused, written };
  }

  it('lets nobody in where the table says nothing', () => {
    const { guard, refused } = guardOf('grpc');
    expect(() => guard.enter(undefined, {})).toThrow(/of the access table/);
    expect(refused).toEqual(['grpc PERMISSION_DENIED']);
  });

  it('writes down who was refused a change, and not who was refused a look', () => {
    const { guard, refused, written } = guardOf('http');
    const kv = { need: { scope: 'kv' } } as const;
    expect(() => guard.enter({ ...kv, action: 'drop-user' }, {})).toThrow(/'ann' has recall/);
    expect(() => guard.enter(kv, {})).toThrow(/'ann' has recall/);
    expect(refused).toEqual(['http PERMISSION_DENIED', 'http PERMISSION_DENIED']);
    expect(written).toMatchObject([
      { action: 'drop-user', actor: 'ann', edge: 'http', outcome: 'PERMISSION_DENIED' },
    ]);
    expect(guard.enter({ need: { scope: 'recall' } }, {}).name).toBe('ann');
  });
});
