/** Samples of requests and answers in docs, against the messages that they are of. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { protoSchema } from '@tessera/contracts';
import protobuf from 'protobufjs';
import { expect, it } from 'vitest';

const root = protobuf.Root.fromJSON(protoSchema as protobuf.INamespace).resolveAll();
/** A member that stands in one message alone, of those that samples are of. */
const TYPES = {
  userId: 'tessera.recall.v1.RecallRequest',
  kv: 'tessera.recall.v1.RecallResponse',
  items: 'tessera.recall.v1.RecallResponse',
} as const;
/** Members whose JSON is of another form than their message's (service-json.ts). */
const OTHERWISE = new Set(['eligibility']);

/** Blocks marked `json`, those of a part of an object too; `...` is left out. */
function samplesOf(text: string): unknown[] {
  return [...text.matchAll(/^```json\n([\s\S]*?)^```/gm)].flatMap(([, block = '']) => {
    const whole = block.trimStart().startsWith('{') ? block : `{${block}}`;
    try {
      return [JSON.parse(whole.replace(/,?\s*\.\.\./g, ''))];
    } catch {
      return [];
    }
  });
}

function unknownMembers(value: unknown, type: protobuf.Type | null, path: string): string[] {
  if (type === null || typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) {
    return value.flatMap((one, i) => unknownMembers(one, type, `${path}[${i}]`));
  }
  return Object.entries(value).flatMap(([name, member]) => {
    const field = type.fields[name];
    if (field === undefined) return [`${path}.${name}`];
    const below = field.resolve().resolvedType;
    const isPlain = field.map || OTHERWISE.has(name) || !(below instanceof protobuf.Type);
    return isPlain ? [] : unknownMembers(member, below, `${path}.${name}`);
  });
}

const pages = readdirSync('docs', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md') && !name.startsWith('node_modules'))
  .map((name) => join('docs', name));

it('have the members of the messages of today', () => {
  let count = 0;
  const found = ['README.md', ...pages].flatMap((page) =>
    samplesOf(readFileSync(page, 'utf8')).flatMap((sample) => {
      const known = Object.keys(TYPES).find((name) => name in (sample as object));
      if (known === undefined) return [];
      count += 1;
      const type = root.lookupType(TYPES[known as keyof typeof TYPES]);
      return unknownMembers(sample, type, page);
    }),
  );
  expect(found).toEqual([]);
  expect(count).toBeGreaterThan(6);
});
