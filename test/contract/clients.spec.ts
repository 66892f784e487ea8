/** Clients have the messages of proto/ in common, and the rules by which calls are repeated. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const PROTOS = 'proto/tessera';
const files = readdirSync(PROTOS, { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.proto'),
);
/** Fields and methods as a proto file names them. */
const FIELD = /^\s*(?:optional |repeated )?(?:map<[^>]+>|[\w.]+) (\w+) = \d+/gm;
const METHOD = /^\s*rpc (\w+)\(/gm;

const named = (text: string, pattern: RegExp) =>
  [...new Set([...text.matchAll(pattern)].map(([, name]) => name))].sort();

it.each(files)('%s', (file) => {
  const proto = readFileSync(join(PROTOS, file), 'utf8');
  const path = join('clients/go', file.replace(/\.proto$/, '.pb.go'));
  const how = 'npx buf generate --template clients/go/buf.gen.yaml';
  expect(existsSync(path), `${path}: ${how}`).toBe(true);
  const fields = named(readFileSync(path, 'utf8'), /protobuf:"[^"]*,name=(\w+)/g);
  expect(fields, how).toEqual(named(proto, FIELD));
  const methods = named(proto, METHOD);
  if (methods.length === 0) return;
  const stubs = readFileSync(path.replace('.pb.go', '_grpc.pb.go'), 'utf8');
  const generated = named(stubs, /^func \(c \*\w+ServiceClient\) (\w+)\(/gm);
  expect(generated, how).toEqual(methods);
});

const camel = (name = '') => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

it.each(files)('%s in TypeScript', (file) => {
  const proto = readFileSync(join(PROTOS, file), 'utf8');
  const path = join('clients/node/src/generated/tessera', file.replace(/proto$/, 'ts'));
  const how = 'npx buf generate --template clients/node/buf.gen.yaml';
  // Entries of maps have fields of their own, which no proto file names.
  const text = readFileSync(path, 'utf8').replaceAll(/interface \w+Entry \{[^}]*\}/g, '');
  const fields = named(text, /^ {2}readonly (\w+)\??:/gm);
  expect(fields, how).toEqual([...new Set(named(proto, FIELD).map(camel))].sort());
});

it.each(['go', 'java', 'node', 'python'])(
  'clients/%s has the licence that it is published with',
  (name) => {
    const own = readFileSync(join('clients', name, 'LICENSE'), 'utf8');
    expect(own).toBe(readFileSync('LICENSE', 'utf8'));
  },
);

const RETRIES = [
  'clients/node/src/retries.ts',
  'clients/python/tessera_client/retries.py',
  'clients/go/tessera/retries.go',
  'clients/java/src/main/java/dev/tessera/client/Retries.java',
];

it.each(RETRIES)('%s repeats by the numbers of all clients', (path) => {
  const text = readFileSync(path, 'utf8').replaceAll('_', '').toLowerCase();
  const numberOf = (name: string) =>
    Number(
      new RegExp(`\\b${name}(?:ms)? *= *(?:duration\\.ofmillis\\()?([\\d.]+)`).exec(text)?.[1],
    );
  const names = ['attemptsmax', 'firstwait', 'jitter', 'tokensmax', 'tokenratio', 'answerweight'];
  expect(names.map(numberOf)).toEqual([4, 20, 0.2, 10, 0.1, 0.125]);
});

it('both clients in TypeScript repeat by the same code', () => {
  const codeOf = (path: string) =>
    readFileSync(path, 'utf8').replace(/from '[^']*errors[^']*'/, '');
  expect(codeOf('libs/edge/client/src/retries.ts')).toBe(codeOf('clients/node/src/retries.ts'));
});
