import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkKeyFiles, loadConfig, readSecret, readTls } from '@tessera/config';
import { TesseraError } from '@tessera/errors';
import { temporaryFolder } from '@tessera/testing';
import { afterAll, describe, expect, it } from 'vitest';

const folder = temporaryFolder({});
afterAll(() => folder.remove());

const tls = (name: string) => join('test', 'fixtures', 'tls', name);
const DER = join(folder.path, 'server.der');
writeFileSync(DER, new X509Certificate(readFileSync(tls('server.pem'))).raw);
const SEALED = join(folder.path, 'sealed.key');
const sealed = { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'p' } as const;
writeFileSync(SEALED, createPrivateKey(readFileSync(tls('server.key'))).export(sealed));
const FIELDS = { certificate: 'x.certificatePath', key: 'x.keyPath', ca: 'x.caPath' };
const NONE = { certificatePath: '', keyPath: '', caPath: '' };

function faultOf(act: () => unknown): string {
  try {
    act();
  } catch (thrown) {
    const { code, field, message } = TesseraError.from(thrown);
    expect(code).toBe('CONFIG_INVALID');
    return `${field}: ${message}`;
  }
  throw new Error('expected CONFIG_INVALID, nothing was thrown');
}

describe('files of TLS', () => {
  const server = { certificatePath: tls('server.pem'), keyPath: tls('server.key') };

  it('are read where they belong together', () => {
    const { cert, key, ca } = readTls(FIELDS, { ...server, caPath: tls('authority.pem') });
    expect([cert, key, ca].every((file) => file?.includes('-----BEGIN'))).toBe(true);
    expect(readTls(FIELDS, NONE)).toEqual({ cert: undefined, key: undefined, ca: undefined });
  });

  it.each([
    [
      { ...server, keyPath: tls('client.key') },
      /x\.keyPath: expected the private key of the certif/,
    ],
    [{ ...server, keyPath: '' }, /x\.keyPath: expected both/],
    [{ ...server, certificatePath: '' }, /x\.keyPath: expected both/],
    [{ ...server, keyPath: tls('server.pem') }, /x\.keyPath: .*expected a private key in PEM/],
    [
      { ...server, certificatePath: tls('server.key') },
      /x\.certificatePath: .*a certificate in PEM/,
    ],
    [{ caPath: tls('client.key') }, /x\.caPath: .*expected a certificate in PEM/],
    [
      { certificatePath: tls('weak.pem'), keyPath: tls('weak.key') },
      /x\.certificatePath: .*weak\.pem: expected a key of 2048 bits at least, got 1024/,
    ],
    [{ caPath: tls('weak.pem') }, /x\.caPath: .*2048 bits at least, got 1024/],
    [
      { certificatePath: DER, keyPath: tls('server.key') },
      /x\.certificatePath: .*expected a certificate in PEM, got DER: convert it to PEM/,
    ],
    [{ ...server, keyPath: SEALED }, /x\.keyPath: .*got one with a passphrase, which is not supp/],
    [
      { caPath: tls('absent.pem') },
      /x\.caPath: expected a readable file, got .*absent\.pem: ENOENT/,
    ],
    [
      { caPath: tls('.') },
      /x\.caPath: expected a readable file, got .*: expected a regular file, got a folder/,
    ],
  ])('%j are refused with the key at fault', (paths, expected) => {
    expect(faultOf(() => readTls(FIELDS, { ...NONE, ...paths }))).toMatch(expected);
  });
});

it('files that the configuration names are read before anything is opened, all of them', () => {
  const check = (environment: Record<string, string>) => () =>
    checkKeyFiles(loadConfig({ environment }).config);
  check({})();
  const pair = { CERTIFICATE_PATH: tls('server.pem'), KEY_PATH: tls('server.key') };
  const ofHttp = Object.fromEntries(
    Object.entries(pair).map(([name, path]) => [`TESSERA_HTTP_${name}`, path]),
  );
  check(ofHttp)();
  const bad = { ...ofHttp, TESSERA_HTTP_KEY_PATH: SEALED };
  expect(faultOf(check(bad))).toMatch(/^http\.keyPath: .*passphrase/);
  const both = { ...bad, TESSERA_PEER_TOKEN_PATH: tls('absent') };
  expect(check(both)).toThrow(/http\.keyPath: .*\n.*peer\.tokenPath: expected a readable file/);
});

describe('a secret', () => {
  const path = join(folder.path, 'secret');

  it.each([
    ['one\n', 'one'],
    ['  spaces inside stay  \r\n', 'spaces inside stay'],
  ])('of the file %j is %j', (content, expected) => {
    writeFileSync(path, content);
    expect(readSecret('x.path', path)).toBe(expected);
  });

  it.each([
    ['', 'got none'],
    ['\n', 'got none'],
    ['a\nb\n', 'got more'],
  ])('is none in the file %j', (content, expected) => {
    writeFileSync(path, content);
    expect(faultOf(() => readSecret('x.path', path))).toContain(expected);
  });

  it('is nothing where no file is named', () => {
    expect(readSecret('x.path', '')).toBe('');
  });
});
