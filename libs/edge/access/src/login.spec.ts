import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { TesseraError } from '@tessera/errors';
import { temporaryFolder } from '@tessera/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { AUDIT_READ_BYTES_MAX } from './audit-log.js';
import { claimAt, rolesOfClaim } from './domain/claims.js';
import { highestRole } from './domain/roles.js';
import {
  AttemptLimit,
  type AuditEntry,
  AuditLog,
  parseClaimRoles,
  ROLES,
  reaches,
  roleOf,
  Seal,
  Sessions,
} from './index.js';

const folder = temporaryFolder({});
afterAll(() => folder.remove());

const codeOf = (thrown: unknown) => TesseraError.from(thrown).code;

describe('roles', () => {
  it('each reach those before them', () => {
    const reached = ROLES.map((role) => ROLES.filter((wanted) => reaches(role, wanted)));
    expect(reached).toEqual([['read'], ['read', 'operate'], ['read', 'operate', 'admin']]);
  });

  it('come from scopes of their names; scopes of gRPC give none', () => {
    expect(roleOf(['push', 'activate'])).toBeUndefined();
    expect(roleOf(['activate', 'read'])).toBe('read');
    expect(roleOf(['admin', 'read'])).toBe('admin');
  });

  const roles = parseClaimRoles('viewers=read, a=b=operate,admin=admin');
  it.each([
    [{ roles: ['x', 'a=b', 'viewers'] }, 'roles', 'operate'],
    [{ roles: 'viewers admin' }, 'roles', 'admin'],
    [{ 'https://example.org/roles': 'viewers' }, 'https://example.org/roles', 'read'],
    [{ realm_access: { roles: ['admin'] } }, 'realm_access.roles', 'admin'],
    [{ realm_access: 'admin' }, 'realm_access.roles', undefined],
    [{ roles: { admin: true } }, 'roles', undefined],
    [{ roles: null }, 'roles', undefined],
    [{}, 'constructor.name', undefined],
  ])('are read from the claims %j at %s: %s', (claims, path, expected) => {
    expect(highestRole(rolesOfClaim(claimAt(claims, path), roles))).toBe(expected);
  });

  it.each(['', 'x', '=read', 'x=chief'])('cannot be named by %j', (text) => {
    expect(() => parseClaimRoles(text)).toThrow(/oidc.roles: expected VALUE=ROLE/);
  });
});

describe('sessions', () => {
  const clock = { ms: 0 };
  const sessions = () => new Sessions<string>({ countMax: 3, lifetimeMs: 100 }, () => clock.ms);

  it('end after their time, however much they are used, and when somebody leaves', () => {
    clock.ms = 0;
    const held = sessions();
    const [ann, bob] = [held.begin('ann'), held.begin('bob')];
    expect(ann).not.toBe(bob);
    expect(held.find(`${ann}x`)).toBeUndefined();
    expect(held.end(bob)).toBe('bob');
    expect(held.find(bob)).toBeUndefined();
    clock.ms = 99;
    expect(held.find(ann)).toBe('ann');
    clock.ms = 100;
    expect(held.find(ann)).toBeUndefined();
    expect(held.count).toBe(0);
  });

  it('are bounded: one more ends the one that was used the longest ago', () => {
    clock.ms = 0;
    const held = sessions();
    const [first, second, third] = ['1', '2', '3'].map((name) => held.begin(name));
    held.find(first ?? '');
    held.begin('4');
    const left = [first, second, third].map((id) => held.find(id ?? ''));
    expect(left).toEqual(['1', undefined, '3']);
    expect(held.count).toBe(3);
  });
});

describe('attempts', () => {
  const clock = { ms: 0 };
  const limit = () => new AttemptLimit({ failuresMax: 2, windowMs: 1000 }, () => clock.ms);
  const fail = (code: 'UNAUTHENTICATED' | 'ISSUER_UNAVAILABLE') => async () => {
    throw new TesseraError(code, 'no');
  };
  const outcome = (attempts: AttemptLimit, address: string, act: () => Promise<string>) =>
    attempts.attempt(address, act).catch(codeOf);

  it('that fail are counted by address, and forgotten after their time', async () => {
    clock.ms = 0;
    const attempts = limit();
    const bad = fail('UNAUTHENTICATED');
    const good = async () => 'in';
    for (const expected of ['UNAUTHENTICATED', 'UNAUTHENTICATED', 'TOO_MANY_ATTEMPTS']) {
      expect(await outcome(attempts, '10.0.0.1', bad)).toBe(expected);
    }
    expect(await outcome(attempts, '10.0.0.1', good)).toBe('TOO_MANY_ATTEMPTS');
    expect(await outcome(attempts, '10.0.0.2', good)).toBe('in');
    clock.ms = 400;
    const refused = await attempts.attempt('10.0.0.1', good).catch((thrown: unknown) => thrown);
    expect(refused).toMatchObject({ retryAfterMs: 600 });
    clock.ms = 1000;
    expect(await outcome(attempts, '10.0.0.1', good)).toBe('in');
  });

  it('are those of a whole network of IPv6, and what may pass by itself is none', async () => {
    clock.ms = 0;
    const attempts = limit();
    for (const host of ['2001:db8:1:2::1', '2001:db8:1:2:3:4:5:6']) {
      await outcome(attempts, host, fail('UNAUTHENTICATED'));
    }
    const again = async (address: string) => outcome(attempts, address, async () => 'in');
    expect(await again('2001:db8:1:2::9')).toBe('TOO_MANY_ATTEMPTS');
    expect(await again('2001:db8:1:3::9')).toBe('in');
    for (let i = 0; i < 5; i += 1) await outcome(attempts, '1.1.1.1', fail('ISSUER_UNAVAILABLE'));
    expect(await again('1.1.1.1')).toBe('in');
  });
});

describe('a seal', () => {
  it('opens what it closed, in time and as it was', () => {
    let nowMs = 0;
    const seal = new Seal<{ readonly page: string }>(100, () => nowMs);
    const sealed = seal.close({ page: '/x' });
    expect(seal.open(sealed)).toEqual({ page: '/x' });
    const [text = '', signature = ''] = sealed.split('.');
    const other = Buffer.from('{"value":{"page":"/y"},"endsMs":50}').toString('base64url');
    const strange = ['', '.', text, `${other}.${signature}`, `${text}.${signature.slice(1)}`];
    expect(strange.map((one) => seal.open(one))).toEqual(strange.map(() => undefined));
    expect(new Seal(100, () => nowMs).open(sealed)).toBeUndefined();
    nowMs = 100;
    expect(seal.open(sealed)).toBeUndefined();
  });
});

describe('audits that are read back', () => {
  const entry = (name: string): AuditEntry => ({
    timeMs: 1e12,
    action: 'push',
    actor: 'trainer',
    name,
    digest: 'd',
    outcome: 'OK',
    detail: '',
    role: 'admin',
  });

  it('are the newest that are wanted, newest first, and say where older ones are', async () => {
    const path = join(folder.path, 'audit.jsonl');
    const log = await AuditLog.open(path);
    for (const name of ['a', 'b', 'a', 'c']) await log.write(entry(name));
    const isOfA = ({ name }: AuditEntry) => name === 'a';
    expect(await log.newest(5, isOfA)).toEqual({
      entries: [entry('a'), entry('a')],
      isWhole: true,
    });
    const two = await log.newest(2, () => true);
    expect(two.entries.map(({ name }) => name)).toEqual(['c', 'a']);
    expect(two.isWhole).toBe(false);
    appendFileSync(path, `{"time":"20\n${' '.repeat(AUDIT_READ_BYTES_MAX)}\n`);
    await log.write(entry('last'));
    const after = await log.newest(5, () => true);
    expect(after).toEqual({ entries: [entry('last')], isWhole: false });
    await log.close();
  });
});
