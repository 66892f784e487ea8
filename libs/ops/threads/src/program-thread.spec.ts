import { ProgramThread } from '@tessera/threads';
import { describe, expect, it } from 'vitest';

describe('a thread with a program', () => {
  it('answers what it is asked, each alone, by the data that it was given', async () => {
    const make = '({ by }) => (n) => { if (n < 0) throw new Error("below: " + n); return n * by; }';
    const thread = new ProgramThread<number, number>('product', make, { by: 3 });
    const asked = [1, -2, 5].map((n) => thread.ask(n));
    const outcomes = await Promise.allSettled(asked);
    expect(outcomes).toMatchObject([
      { value: 3 },
      { reason: { message: 'below: -2' } },
      { value: 15 },
    ]);
  });

  it('keeps the process alive while it is asked something, and not else', async () => {
    const ports = () =>
      process.getActiveResourcesInfo().filter((kind) => kind === 'MessagePort').length;
    const before = ports();
    const thread = new ProgramThread<number, number>('idle', '() => (n) => n');
    expect(ports()).toBe(before);
    const answer = thread.ask(7);
    expect(ports()).toBe(before + 1);
    expect(await answer).toBe(7);
    expect(ports()).toBe(before);
  });

  it('that ends refuses what waits and what comes', async () => {
    const thread = new ProgramThread<string, void>('short', '() => () => process.exit(3)');
    const message = 'thread short: expected it to answer, got: it ended with 3';
    await expect(thread.ask('x')).rejects.toMatchObject({ code: 'INTERNAL', message });
    expect(thread.isOver).toBe(true);
    await expect(thread.ask('y')).rejects.toMatchObject({ code: 'INTERNAL', message });
  });
});
