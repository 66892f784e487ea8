import { expect, it } from 'vitest';
import { freePort } from './free-port.js';

it('draws each port once, and none of those that another worker draws', async () => {
  const ports: number[] = [];
  for (let draw = 0; draw < 300; draw += 1) ports.push(await freePort());
  expect(new Set(ports).size).toBe(ports.length);
  expect(Number(process.env.VITEST_POOL_ID)).toBeGreaterThan(0);
  expect(new Set(ports.map((port) => port % 8)).size).toBe(1);
});
