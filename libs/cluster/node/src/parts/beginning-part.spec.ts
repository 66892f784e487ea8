import { expect, it } from 'vitest';
import { BeginningPart } from './beginning-part.js';

const apply = (part: BeginningPart, body: unknown) =>
  part.part.apply({ kind: 'snapshot', body }, { offset: 9, atMs: 1 }, 'mark');

it('knows the newest snapshot that the log names, whatever else is named so', async () => {
  const beginning = new BeginningPart({} as never, []);
  await apply(beginning, { snapshot: 'a', offset: 7 });
  for (const body of [{ snapshot: 'b' }, null, { offset: '12' }, { offset: Number.NaN }, 'x']) {
    await apply(beginning, body);
  }
  await apply(beginning, { snapshot: 'older', offset: 3 });
  expect(beginning.newestSnapshot).toBe(7);
});
