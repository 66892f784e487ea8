import { expect, it } from 'vitest';
import { table } from './table.js';

const LONG = `${'why '.repeat(50)}end`;

it('cuts long texts, but those of a column that is to be read whole', () => {
  const lines = table([{ name: 'title' }, { name: 'reason', isWhole: true }], [[LONG, LONG]]);
  const [, , row = ''] = lines.split('\n');
  expect(row).toBe(`${LONG.slice(0, 79)}…  ${LONG}`);
});
