import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { WatchedTls } from '@tessera/config';
import { Conditions } from '@tessera/lifecycle';
import { Metrics } from '@tessera/telemetry';
import { temporaryFolder } from '@tessera/testing';
import { afterAll, afterEach, expect, it, vi } from 'vitest';
import { watchCertificates } from './certificates.js';

const folder = temporaryFolder({});
const put = (name: string) => {
  for (const end of ['pem', 'key']) {
    copyFileSync(join('test/fixtures/tls', `${name}.${end}`), join(folder.path, `own.${end}`));
  }
};
afterAll(() => folder.remove());
afterEach(() => vi.useRealTimers());

it('are warned of once when they are read and have ended', () => {
  vi.useFakeTimers({ toFake: ['Date', 'setInterval'] });
  put('server');
  const paths = { certificatePath: join(folder.path, 'own.pem'), caPath: '' };
  const fields = { certificate: 'c', key: 'k', ca: 'a' };
  const tls = new WatchedTls(fields, { ...paths, keyPath: join(folder.path, 'own.key') });
  const warned: string[] = [];
  const log = {
    debug: () => undefined,
    info: () => undefined,
    warn: (_: object, message: string) => void warned.push(message),
    error: () => undefined,
  };
  watchCertificates([tls], { conditions: new Conditions(), metrics: new Metrics(), log });
  expect(warned).toEqual([]);
  vi.setSystemTime('2127-01-01');
  put('client');
  tls.look();
  tls.look();
  expect(warned).toEqual(['a certificate has ended']);
});
