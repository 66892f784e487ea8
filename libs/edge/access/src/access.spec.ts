import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { TesseraError } from '@tessera/errors';
import { temporaryFolder } from '@tessera/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  AccessControl,
  type AuditEntry,
  AuditLog,
  type Credentials,
  isLoopback,
  reachOf,
  SCOPES,
  type Scope,
} from './index.js';

const sha256 = (token: string) => createHash('sha256').update(token).digest('hex');
const NOW = Date.parse('2030-01-01T00:00:00Z');
const GRANTS = [
  { name: 'trainer', sha256: sha256('trainers-token'), scopes: ['push', 'read'] },
  {
    name: 'chief',
    sha256: sha256('chiefs-token'),
    scopes: ['activate'],
    expires: '2030-01-01T00:00:01Z',
  },
  {
    name: 'past',
    sha256: sha256('old-token'),
    scopes: ['push'],
    expires: '2030-01-01T01:00:00+01:00',
  },
  { name: 'robot', certificate: 'robot.example', scopes: ['push'] },
];

const CLEAR = '[{"name": "x", "token": "in the clear", "scopes": ["push"]}]';

const folder = temporaryFolder({ 'tokens.json': GRANTS });
const path = join(folder.path, 'tokens.json');
afterEach(() => writeFileSync(path, JSON.stringify(GRANTS)));

const HOST = '0.0.0.0';
const settings = { tokensPath: path, nowMs: () => NOW };
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

function outcome(access: AccessControl, who: Credentials, scope: Scope, host = HOST): string {
  try {
    return access.authorize(who, scope, host).name;
  } catch (error) {
    return TesseraError.from(error).code;
  }
}

describe('access by token', () => {
  it.each<[string, Credentials, Scope, string]>([
    ['a token for what it is for', bearer('trainers-token'), 'push', 'trainer'],
    ['a token for something else', bearer('trainers-token'), 'activate', 'PERMISSION_DENIED'],
    ['a token that is not expired yet', bearer('chiefs-token'), 'activate', 'chief'],
    ['a token that expires now', bearer('old-token'), 'push', 'UNAUTHENTICATED'],
    ['a token that nobody knows', bearer('trainers-toke'), 'push', 'UNAUTHENTICATED'],
    ['a hash in place of its token', bearer(sha256('trainers-token')), 'push', 'UNAUTHENTICATED'],
    ['a very long token', bearer('x'.repeat(5000)), 'push', 'UNAUTHENTICATED'],
    ['no token', {}, 'read', 'UNAUTHENTICATED'],
    ['an empty one', { authorization: '' }, 'read', 'UNAUTHENTICATED'],
    ['another scheme', { authorization: 'Basic dHJhaW5lcg==' }, 'push', 'UNAUTHENTICATED'],
    ['a certificate that is known', { certificate: 'robot.example' }, 'push', 'robot'],
    [
      'a certificate for something else',
      { certificate: 'robot.example' },
      'read',
      'PERMISSION_DENIED',
    ],
    ['a certificate that is not', { certificate: 'robot.example2' }, 'push', 'UNAUTHENTICATED'],
    [
      'a bad token beside a good certificate',
      { ...bearer('x'), certificate: 'robot.example' },
      'push',
      'UNAUTHENTICATED',
    ],
  ])('of %s', async (_, who, scope, expected) => {
    expect(outcome(await AccessControl.open(settings), who, scope)).toBe(expected);
  });

  it('ends when the token is taken out of the file, without a restart', async () => {
    const access = await AccessControl.open(settings);
    writeFileSync(path, JSON.stringify(GRANTS.slice(1)));
    await setImmediate();
    expect(outcome(access, bearer('trainers-token'), 'push')).toBe('UNAUTHENTICATED');
  });

  it.each([
    ['no grants', CLEAR, 'another form at [0]'],
    ['no list', '{}', 'another form;'],
    ['half of them', JSON.stringify(GRANTS).slice(0, 40), 'malformed JSON'],
    ['a token alone', 'tok-in-the-clear', 'malformed JSON'],
    ['nothing', '', 'malformed JSON'],
    ['no file', undefined, 'no file'],
    ['a FIFO', 'fifo', 'none that can be read'],
  ])('of the last file counts while there is %s, until the next file', async (_, text, got) => {
    const faults: (string | undefined)[] = [];
    const onFault = (fault: Error | undefined) => faults.push(fault?.message);
    const access = await AccessControl.open({ ...settings, onFault });
    rmSync(path);
    if (text === 'fifo') spawnSync('mkfifo', [path]);
    else if (text !== undefined) writeFileSync(path, text);
    for (let question = 0; question < 3; question += 1) {
      await setImmediate();
      expect(outcome(access, bearer('trainers-token'), 'push')).not.toMatch(/[A-Z]/);
      expect(outcome(access, bearer('guessed'), 'push')).toBe('UNAUTHENTICATED');
    }
    expect(faults).toEqual([expect.stringContaining(path)]);
    const { state, reason } = access.reach();
    expect([state, reason.includes(path)]).toEqual(['degraded', false]);
    expect(reason).toContain(`expected a list of tokens and certificates, got ${got}`);
    expect(reason).not.toMatch(/in.the.clear/);
    rmSync(path, { force: true });
    writeFileSync(path, JSON.stringify(GRANTS.slice(1)));
    await setImmediate();
    expect(outcome(access, bearer('trainers-token'), 'push')).toBe('UNAUTHENTICATED');
    expect(access.reach().state).toBe('ok');
    expect(faults).toHaveLength(2);
  });

  it('is looked at though nobody asks', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      const access = await AccessControl.open(settings);
      access.watch();
      await setImmediate();
      writeFileSync(path, CLEAR);
      vi.advanceTimersByTime(1000);
      expect(access.reach().state).toBe('degraded');
      await setImmediate();
      writeFileSync(path, JSON.stringify(GRANTS));
      vi.advanceTimersByTime(1000);
      expect(access.reach().state).toBe('ok');
    } finally {
      vi.useRealTimers();
    }
  });

  it('is refused at the start where the file is no list of grants', async () => {
    writeFileSync(path, CLEAR);
    await expect(AccessControl.open(settings)).rejects.toThrow(/access|tokens/);
    const absent = { ...settings, tokensPath: join(folder.path, 'absent.json') };
    await expect(AccessControl.open(absent)).rejects.toThrow(/expected a file of tokens/);
  });
});

describe('access without a file of tokens', () => {
  it.each([
    ['127.0.0.1', 'loopback', 'loopback'],
    ['::1', 'loopback', 'loopback'],
    ['localhost', 'loopback', 'loopback'],
    ['0.0.0.0', 'UNAUTHENTICATED', 'open'],
    ['::', 'UNAUTHENTICATED', 'open'],
    ['10.0.0.1', 'UNAUTHENTICATED', 'open'],
    ['127.0.0.1.example.org', 'UNAUTHENTICATED', 'open'],
  ])('on %s: %s, and where it is open: %s', async (host, guarded, open) => {
    const access = await AccessControl.open({ tokensPath: '' });
    expect(outcome(access, {}, 'activate', host)).toBe(guarded);
    const anybody = await AccessControl.open({ tokensPath: '', mode: 'open' });
    expect(outcome(anybody, {}, 'activate', host)).toBe(open);
  });
});

describe('a scope', () => {
  // Restated by hand: what each role may do beside what it is called.
  const RECALLS = ['recall', 'embed', 'behaviour:write', 'behaviour:read', 'push'];
  it.each([
    ['read', ['adapter:read', 'weights:read', 'catalogue:read', 'metrics', 'reflection']],
    ['activate', ['weights:write']],
    ['catalogue:write', ['catalogue:read']],
    ['recall', []],
    ['push', []],
  ] as [Scope, Scope[]][])('%s comes with %j', (scope, included) => {
    expect([...reachOf([scope])].sort()).toEqual([scope, ...included].sort());
  });

  it('of administrators has all that the console lets them do, and no data of callers', () => {
    const missing = SCOPES.filter((scope) => !reachOf(['admin']).has(scope));
    expect(missing.sort()).toEqual(RECALLS.sort());
    const operate = reachOf(['operate']);
    expect(['behaviour:erase', 'kv', 'read'].every((one) => operate.has(one as Scope))).toBe(true);
    expect(operate.has('catalogue:write') || operate.has('activate')).toBe(false);
  });
});

describe('an address', () => {
  it.each([
    ['127.0.0.1', true],
    ['127.1', true],
    ['127.255.255.254', true],
    ['2130706433', true],
    ['0x7f.0.0.1', true],
    ['localhost', true],
    ['LOCALHOST', true],
    ['::1', true],
    ['[::1]', true],
    ['0:0:0:0:0:0:0:1', true],
    ['::ffff:127.0.0.1', true],
    ['::ffff:7f00:1', true],
    ['::ffff:128.0.0.1', false],
    ['127.0.0.999', false],
    ['127.0.0.1.example.org', false],
    ['localhost.example.org', false],
    ['127.0.0.1@example.org', false],
    ['127.0.0.1/x', false],
    ['128.0.0.1', false],
    ['0.0.0.0', false],
    ['::', false],
    ['', false],
  ])('%s is of this machine alone: %s', (host, expected) => {
    expect(isLoopback(host)).toBe(expected);
  });
});

describe('the audit log', () => {
  const entry: AuditEntry = {
    timeMs: NOW,
    action: 'push',
    actor: 'trainer',
    name: 'main',
    digest: 'd',
    outcome: 'OK',
    detail: 'two\nlines',
  };
  const linesOf = (file: string) => readFileSync(file, 'utf8').split('\n').slice(0, -1);

  it('has a line for each entry, in order, also after one that a crash cut off', async () => {
    const file = join(folder.path, 'audits', 'audit.jsonl');
    const log = await AuditLog.open(file);
    await Promise.all([0, 1, 2].map((i) => log.write({ ...entry, detail: `${i}\n` })));
    await log.close();
    appendFileSync(file, '{"time":"20');
    const again = await AuditLog.open(file);
    await again.write(entry);
    await again.close();
    const lines = linesOf(file);
    expect(lines).toHaveLength(5);
    expect(lines[3]).toBe('{"time":"20');
    expect([0, 1, 2].map((i) => JSON.parse(lines[i] ?? '').detail)).toEqual(['0\n', '1\n', '2\n']);
    const { timeMs: _, ...rest } = entry;
    expect(JSON.parse(lines[4] ?? '')).toEqual({ time: '2030-01-01T00:00:00.000Z', ...rest });
  });

  it('that cannot be written says so', async () => {
    await expect(AuditLog.open(join(path, 'audit.jsonl'))).rejects.toThrow(/audit log/);
  });
});
