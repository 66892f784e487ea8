import { JSON_DEPTH_MAX, JSON_MEMBERS_MAX } from '@tessera/errors';
import { expect, it } from 'vitest';
import { parseJsonBody } from './json-body.js';

const scene = (members: number) => {
  const entries = Array.from({ length: members - 1 }, (_, i) => [`a:"${i}`, 'b:']);
  return Buffer.from(JSON.stringify({ scene: Object.fromEntries(entries) }));
};

it('parses as many members and levels as may be, whatever stands in texts', () => {
  expect(parseJsonBody(scene(JSON_MEMBERS_MAX))).toHaveProperty('scene');
  const deep = '['.repeat(JSON_DEPTH_MAX) + ']'.repeat(JSON_DEPTH_MAX);
  expect(parseJsonBody(Buffer.from(deep))).toHaveLength(1);
});

it('refuses more of either before it parses them', () => {
  expect(() => parseJsonBody(scene(JSON_MEMBERS_MAX + 1))).toThrow(
    'body: expected JSON of at most 4000 members, got more',
  );
  const deep = Buffer.from('['.repeat(JSON_DEPTH_MAX + 1));
  expect(() => parseJsonBody(deep)).toThrow('nested at most 256 deep, got more');
});
