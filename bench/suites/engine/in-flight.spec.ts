import { TesseraError } from '@tessera/errors';
import { describe, expect, it } from 'vitest';
import { closedLoop, openLoop } from './in-flight.js';

describe('calls in flight', () => {
  it('of a closed loop are as many as asked for, each place calling at least once', async () => {
    let now = 0;
    let most = 0;
    let count = 0;
    await closedLoop(3, 0, async () => {
      now += 1;
      count += 1;
      most = Math.max(most, now);
      await Promise.resolve();
      now -= 1;
    });
    expect(most).toBe(3);
    expect(count).toBe(3);
  });

  it('of an open loop do not wait for earlier ones, and refusals are counted', async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let calls = 0;
    const call = async (at: number) => {
      calls += 1;
      if (at === 1) throw new TesseraError('ENGINE_OVERLOADED', 'full');
      if (at === 3) release();
      await held;
    };
    const { latencies, refused } = await openLoop(4000, 40, 1, call);
    expect(calls).toBeGreaterThan(3);
    expect(refused).toBe(1);
    expect(latencies.length).toBe(calls - 1);
  });

  it('of an open loop that fail otherwise end it', async () => {
    const call = () => Promise.reject(new TesseraError('INTERNAL', 'broken'));
    await expect(openLoop(100, 1, 1, call)).rejects.toThrow('broken');
  });
});
