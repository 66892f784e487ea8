import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@tessera/testing';
import { expect, it } from 'vitest';
import { kafkaSecurity, loadConfig, securityOf, watchedSecret } from './index.js';

it('a secret is that of its moment; while it cannot be read, the last that could', () => {
  const folder = temporaryFolder({ secret: 'first\n' });
  const path = join(folder.path, 'secret');
  const secret = watchedSecret('field', path);
  expect(secret()).toBe('first');
  for (const [text, expected] of [
    ['second', 'second'],
    ['two\nlines', 'second'],
    ['', 'second'],
    ['third', 'third'],
  ] as const) {
    writeFileSync(path, text);
    expect(secret()).toBe(expected);
  }
  rmSync(path);
  expect(secret()).toBe('third');
  expect(() => watchedSecret('field', path)).toThrow('field: expected a readable file');
  expect(watchedSecret('field', '')()).toBe('');
  folder.remove();
});

it('an identity shows the password of the handshake, whichever copies it then', () => {
  const folder = temporaryFolder({ secret: 'first' });
  const passwordPath = join(folder.path, 'secret');
  const store = securityOf({ username: 'u', passwordField: 'f', passwordPath, tls: undefined });
  const environment = {
    TESSERA_KAFKA_SASL_MECHANISM: 'plain',
    TESSERA_KAFKA_SASL_USER: 'u',
    TESSERA_KAFKA_SASL_PASSWORD_PATH: passwordPath,
  };
  const { sasl } = kafkaSecurity(loadConfig({ environment }).config);
  for (const password of ['first', 'another']) {
    writeFileSync(passwordPath, password);
    expect({ ...store }).toEqual({ username: 'u', password });
    expect(sasl?.password).toBe(password);
  }
  folder.remove();
});
