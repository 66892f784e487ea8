import { expect, it } from 'vitest';
import { bodyOf, bodyText, chained, entryBytes, readEntry } from './entries.js';

const bodies: readonly unknown[] = [
  { vector: new Float32Array([1, -0, Number.NaN, 1e-42]) },
  { attributes: { f32: 'yes' } },
  { attributes: { f32: 'AACAPw==' } },
  { f32: 3 },
  { f32: '' },
  [null, 'text', { nested: [new Float32Array(0)] }],
];

it('bodies keep vectors to the bit, and take nothing else for one', () => {
  for (const body of bodies) expect(bodyOf(bodyText(body))).toEqual(body);
});

it('bodies of the release before are read as it wrote them', () => {
  const { buffer } = new Float32Array([1.5, -2]);
  const text = JSON.stringify({ vector: { f32: Buffer.from(buffer).toString('base64') } });
  expect(bodyOf(text, 1)).toEqual({ vector: new Float32Array([1.5, -2]) });
});

it('an entry says what its appender had applied; one of the release before does not', () => {
  const after = { offset: 7, chain: 'c' };
  const head = { key: 'k', node: 'n', kind: 'add' };
  expect(readEntry(entryBytes(head, '{}', after, 'entries/x'))).toEqual({
    ...head,
    format: 2,
    text: '{}',
    stored: 'entries/x',
    after,
  });
  const older = Buffer.from(`${JSON.stringify({ ...head, format: 1, stored: '' })}\n{}`);
  const read = readEntry(older);
  expect([read.format, read.after]).toEqual([1, undefined]);
});

it('a chain tells apart other entries, and the same in another order', () => {
  const [a, b] = ['a', 'b'].map((text) => Buffer.from(text)) as [Buffer, Buffer];
  const chains = [
    chained(chained('log', a), b),
    chained(chained('log', b), a),
    chained(chained('other', a), b),
    chained('log', Buffer.concat([a, b])),
  ];
  expect(new Set(chains).size).toBe(4);
});
