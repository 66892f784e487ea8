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

it('an entry says what its appender had applied', () => {
  const after = { offset: 7, chain: 'c' };
  const head = { key: 'k', node: 'n', kind: 'add' };
  expect(readEntry(entryBytes(head, '{}', after, 'entries/x'))).toEqual({
    ...head,
    text: '{}',
    stored: 'entries/x',
    after,
  });
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
