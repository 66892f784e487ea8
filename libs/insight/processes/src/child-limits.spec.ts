import { once } from 'node:events';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { dataBytesLeft, startLimited } from './child-limits.js';

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

it('knows how much of it is left', async () => {
  const module = join(import.meta.dirname, '../../../../dist/libs/insight/processes/src/index.js');
  const tell = `
    const { dataBytesLeft } = await import(process.argv[1]);
    const before = dataBytesLeft();
    globalThis.held = Buffer.alloc(50 << 20, 1);
    process.send([before, dataBytesLeft()]);`;
  const told = async (dataBytes?: number) => {
    const limits = dataBytes === undefined ? {} : { dataBytes };
    const child = startLimited(['--input-type=module', '-e', tell, module], limits);
    const [left] = await once(child, 'message');
    child.kill();
    return left as [number, number];
  };
  const [before, after] = await told(256 << 20);
  expect(before).toBeGreaterThan(128 << 20);
  expect(before).toBeLessThanOrEqual(256 << 20);
  expect(before - after).toBeGreaterThan(45 << 20);
  expect(await told()).toEqual([Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]);
  expect(dataBytesLeft()).toBe(Number.POSITIVE_INFINITY);
});
