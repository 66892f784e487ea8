/** Redis with users, passwords and TLS. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig, redisSecurity, securityOf } from '@tessera/config';
import { TesseraError } from '@tessera/errors';
import {
  documentedRights,
  type RedisServer,
  startRedisServer,
  temporaryFolder,
} from '@tessera/testing';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseRetention } from './domain/retention.js';
import { RedisBehaviourLog } from './outside/redis-behaviour-log.js';

const folder = temporaryFolder({});
const tls = (name: string) => join('test', 'fixtures', 'tls', name);
const PASSWORD = 'a password with spaces';
let redis: RedisServer;

beforeAll(async () => {
  writeFileSync(join(folder.path, 'password'), `${PASSWORD}\n`);
  writeFileSync(join(folder.path, 'wrong'), 'guessed\n');
  const acl = join(folder.path, 'users.acl');
  const hash = (await import('node:crypto')).createHash('sha256').update(PASSWORD).digest('hex');
  const rights = documentedRights('docs/operate/security.md').replaceAll('NAME', 'tessera');
  writeFileSync(acl, `user default off\nuser tessera on #${hash} ${rights}\n`);
  redis = await startRedisServer((port) => [
    ...['--port', '0', '--tls-port', String(port), '--aclfile', acl],
    ...['--tls-cert-file', tls('server.pem'), '--tls-key-file', tls('server.key')].map(absolute),
    ...['--tls-ca-cert-file', tls('authority.pem'), '--tls-auth-clients', 'yes'].map(absolute),
  ]);
});
afterAll(async () => {
  await redis?.stop();
  folder.remove();
});

/** Redis works in a folder of its own. */
const absolute = (word: string) => (word.startsWith('test') ? join(process.cwd(), word) : word);

const WHOLE = {
  TESSERA_BEHAVIOURS_REDIS_USER: 'tessera',
  TESSERA_BEHAVIOURS_REDIS_PASSWORD_PATH: join(folder.path, 'password'),
  TESSERA_BEHAVIOURS_REDIS: 'rediss://127.0.0.1:6379',
  TESSERA_PEER_CA_PATH: tls('authority.pem'),
  TESSERA_PEER_CERTIFICATE_PATH: tls('client.pem'),
  TESSERA_PEER_KEY_PATH: tls('client.key'),
};

function open(variables: Readonly<Record<string, string>>): Promise<RedisBehaviourLog> {
  const { config } = loadConfig({ environment: variables });
  return RedisBehaviourLog.open({
    address: `rediss://${redis.address}`,
    keyPrefix: 'tessera:',
    security: redisSecurity(config, config.behaviours.redis),
    retention: parseRetention('*=10'),
    nowMs: Date.now,
  });
}

const without = (...names: (keyof typeof WHOLE)[]) =>
  Object.fromEntries(
    Object.entries(WHOLE).filter(([name]) => !(names as readonly string[]).includes(name)),
  );

describe('Redis with users, passwords and TLS', () => {
  it('keeps behaviours for who shows all of them', async () => {
    const log = await open(WHOLE);
    const event = { userId: 'u', eventId: 'e', itemId: 'i', action: 'click', scene: {} };
    expect(await log.append([{ ...event, timeMs: Date.now() }])).toEqual(['added']);
    expect(await log.history('u', 9)).toHaveLength(1);
    await log.putProfile('u', { age: '3' });
    expect(await log.userIds(9)).toEqual(['u']);
    expect(await log.erase('u', Date.now())).toBe(true);
    await log.close();
  });

  it.each([
    [
      'a wrong password',
      { ...WHOLE, TESSERA_BEHAVIOURS_REDIS_PASSWORD_PATH: join(folder.path, 'wrong') },
    ],
    [
      'no password',
      without('TESSERA_BEHAVIOURS_REDIS_USER', 'TESSERA_BEHAVIOURS_REDIS_PASSWORD_PATH'),
    ],
  ])('is refused with the key for %s', async (_name, variables) => {
    const refused = await open(variables).catch((error: unknown) => TesseraError.from(error));
    expect(refused).toMatchObject({
      code: 'CONFIG_INVALID',
      field: 'behaviours.redisPasswordPath',
      message: expect.stringMatching(/WRONGPASS|NOAUTH/),
    });
    expect((refused as TesseraError).message).not.toContain('guessed');
  });

  it.each([
    ['no certificate', without('TESSERA_PEER_CERTIFICATE_PATH', 'TESSERA_PEER_KEY_PATH')],
    ['an authority that has not signed it', without('TESSERA_PEER_CA_PATH')],
  ])('does not answer to %s', async (_name, variables) => {
    const log = await open(variables);
    await expect(log.history('u', 9)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    await log.close();
  });

  it('takes a password that is renewed while it runs', async () => {
    const path = join(folder.path, 'renewed');
    writeFileSync(path, 'first');
    const server = await startRedisServer(['--requirepass', 'first']);
    const security = securityOf({
      username: '',
      passwordField: 'behaviours.redisPasswordPath',
      passwordPath: path,
      tls: undefined,
    });
    const options = { retention: parseRetention('*=10'), keyPrefix: 't:', nowMs: Date.now };
    const log = await RedisBehaviourLog.open({ ...options, address: server.address, security });
    await log.putProfile('u', { age: '3' });
    const admin = new Redis(`redis://:first@${server.address}`);
    await admin.config('SET', 'requirepass', 'second');
    await admin.client('KILL', 'SKIPME', 'yes', 'TYPE', 'normal');
    // The caller may ask again: the file follows the server.
    const asked = () =>
      log.profile('u').catch((error: TesseraError) => [error.code, error.retryable, error.field]);
    const waits = ['STORE_UNAVAILABLE', true, 'behaviours.redisPasswordPath'];
    await expect.poll(asked).toEqual(waits);
    writeFileSync(path, 'second');
    expect(await log.profile('u')).toEqual({ age: '3' });
    await log.putProfile('u', {});
    await Promise.all([admin.quit(), log.close()]);
    await server.stop();
  });

  it('has its password in a file of one line, never in what is printed', async () => {
    writeFileSync(join(folder.path, 'two'), 'a\nb\n');
    const two = { ...WHOLE, TESSERA_BEHAVIOURS_REDIS_PASSWORD_PATH: join(folder.path, 'two') };
    expect(() => redisSecurity(loadConfig({ environment: two }).config, '')).toThrow(
      /behaviours\.redisPasswordPath: .*expected one line of text, got more/,
    );
    const { describeConfig } = await import('@tessera/config');
    const printed = describeConfig(loadConfig({ environment: WHOLE }));
    expect(printed).toContain(join(folder.path, 'password'));
    expect(printed).not.toContain(readFileSync(join(folder.path, 'password'), 'utf8').trim());
  });

  it('says which keys contradict each other', () => {
    const keys = (environment: Record<string, string>) => () => loadConfig({ environment });
    expect(keys(without('TESSERA_BEHAVIOURS_REDIS') as Record<string, string>)).toThrow(
      /peer\.tls: expected 'on' \(or .*rediss:/,
    );
    expect(keys({ TESSERA_BEHAVIOURS_REDIS_USER: 'x' })).toThrow(
      /redisPasswordPath: expected a file/,
    );
    expect(keys({ TESSERA_KAFKA_SASL_MECHANISM: 'plain' })).toThrow(
      /kafka\.saslMechanism: expected/,
    );
  });
});
