import { expect, it } from 'vitest';
import { visible } from './visible.js';

it('writes what a terminal would obey as escapes, and leaves text and JSON what they are', () => {
  expect(visible('Shoes \u001b[2J\u009b31m\u202egnp\r\u0007')).toBe(
    'Shoes \\u001b[2J\\u009b31m\\u202egnp\\u000d\\u0007',
  );
  for (const text of ['a\nb', '用户 👩‍👩‍👧 é', '']) expect(visible(text)).toBe(text);
  const titles = ['\u009b2J', '\u2066x', 'plain'];
  expect(JSON.parse(visible(JSON.stringify(titles)))).toEqual(titles);
});
