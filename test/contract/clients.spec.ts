/** Clients have their licence, and the rules by which calls are repeated, in common. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

it.each(['go', 'java', 'node', 'python'])(
  'clients/%s has the licence that it is published with',
  (name) => {
    const own = readFileSync(join('clients', name, 'LICENSE'), 'utf8');
    expect(own).toBe(readFileSync('LICENSE', 'utf8'));
  },
);

const RETRIES = [
  'libs/edge/client/src/retries.ts',
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
