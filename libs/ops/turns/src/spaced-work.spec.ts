import { expect, it } from 'vitest';
import { SpacedWork } from './spaced-work.js';

/** Work whose waits end when the test says so. */
function spaced(act: () => Promise<void> = async () => undefined) {
  let runs = 0;
  const waits: { ms: number; end: () => void }[] = [];
  const faults: unknown[] = [];
  const work = new SpacedWork({
    work: () => {
      runs += 1;
      return act();
    },
    onFault: (thrown) => faults.push(thrown),
    after: (ms, end) => {
      waits.push({ ms, end });
      return () => waits.splice(0);
    },
  });
  const pass = async () => {
    waits.shift()?.end();
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  };
  return { work, waits, faults, pass, runs: () => runs };
}

it('does what became due while it waited in one run, and nothing that is not due', async () => {
  const { work, waits, pass, runs } = spaced();
  work.due();
  work.due();
  expect(waits).toHaveLength(1);
  await pass();
  expect([runs(), waits.length]).toEqual([1, 0]);
  await work.done();
  expect(runs()).toBe(1);
});

it('runs again for what became due while it ran', async () => {
  let end: () => void = () => undefined;
  const { work, waits, pass, runs } = spaced(
    () =>
      new Promise((resolve) => {
        end = resolve;
      }),
  );
  work.due();
  await pass();
  work.due();
  expect(waits).toHaveLength(0);
  end();
  await pass();
  expect(waits).toHaveLength(1);
  await pass();
  end();
  expect(runs()).toBe(2);
});

it('stays due where it fails, later, and tells why', async () => {
  let isWell = false;
  const { work, waits, faults, pass, runs } = spaced(async () => {
    if (!isWell) throw new Error('full');
  });
  work.due();
  await pass();
  expect(faults).toMatchObject([{ message: 'full' }]);
  expect(waits.map(({ ms }) => ms)).toEqual([10_000]);
  await expect(work.done()).rejects.toThrow('full');
  isWell = true;
  await work.done();
  expect(runs()).toBe(3);
});

it('begins nothing once it is closed, but for who asks', async () => {
  const { work, waits, runs } = spaced();
  work.due();
  await work.close();
  work.due();
  expect([waits.length, runs()]).toEqual([0, 0]);
  await work.done();
  expect(runs()).toBe(1);
});
