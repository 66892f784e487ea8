import { once } from 'node:events';
import { expect, it } from 'vitest';
import { startLimited } from './child-limits.js';

it('may have so much memory beside what its Node begins with', async () => {
  const bytes = 64 << 20;
  const grow = `
    const all = [];
    const grow = (left) => {
      if (left === 0) return process.send('grown');
      all.push(Buffer.alloc(1 << 20, 1));
      setImmediate(grow, left - 1);
    };
    grow(Number(process.argv[1]));`;
  const ends = async (mebibytes: number) => {
    const child = startLimited(['-e', grow, String(mebibytes)], { dataBytes: bytes });
    const first = await Promise.race([once(child, 'message'), once(child, 'exit')]);
    child.kill();
    return first[0];
  };
  expect(await ends(8)).toBe('grown');
  expect(await ends(512)).not.toBe('grown');
});
