import {
  closing,
  Drain,
  type DrainReport,
  drainOnStopSignals,
  STOP_SIGNALS,
} from '@tessera/lifecycle';
import { describe, expect, it } from 'vitest';

const quiet = () => {};

describe('Drain', () => {
  it('runs its steps in the written order, each after the one before', async () => {
    const order: string[] = [];
    const step = (name: string) => ({
      name,
      budgetMs: 1000,
      act: async () => {
        await Promise.resolve();
        order.push(name);
      },
    });
    await new Drain([step('readiness'), step('edges'), step('engine')], quiet).run();
    expect(order).toEqual(['readiness', 'edges', 'engine']);
  });

  it('goes on after a step that fails or does not end, and says so', async () => {
    const reported: DrainReport[] = [];
    const fault = new Error('no');
    const reports = await new Drain(
      [
        { name: 'fails', budgetMs: 1000, act: () => Promise.reject(fault) },
        { name: 'hangs', budgetMs: 1, act: () => new Promise<void>(() => {}) },
        { name: 'last', budgetMs: 1000, act: quiet },
      ],
      (report) => reported.push(report),
    ).run();
    expect(reports.map((report) => report.outcome)).toEqual(['failed', 'out of time', 'done']);
    expect(reports[0]?.error).toBe(fault);
    expect(reported).toEqual(reports);
  });

  it('closes what comes behind a thing that hangs, and tells each its own time', async () => {
    const told: number[] = [];
    const steps = closing(1, {
      facts: () => new Promise<void>(() => {}),
      nothing: undefined,
      audits: (budgetMs) => void told.push(budgetMs),
    });
    const reports = await new Drain(steps, quiet).run();
    const names = reports.map(({ name, outcome }) => `${name}: ${outcome}`);
    expect([names, told]).toEqual([['facts close: out of time', 'audits close: done'], [1]]);
  });

  it('drains once, however often it is asked', async () => {
    let count = 0;
    const act = () => {
      count += 1;
    };
    const drain = new Drain([{ name: 'once', budgetMs: 1000, act }], quiet);
    const [first, second] = await Promise.all([drain.run(), drain.run()]);
    expect(count).toBe(1);
    expect(second).toBe(first);
  });
});

describe('a signal that stops a process', () => {
  it.each(STOP_SIGNALS)('%s drains it', async (signal) => {
    const before = STOP_SIGNALS.flatMap((each) => process.listeners(each));
    let hasDrained = false;
    const act = () => {
      hasDrained = true;
    };
    const drain = new Drain([{ name: 'step', budgetMs: 1000, act }], quiet);
    const status = await new Promise((resolve) => {
      drainOnStopSignals(drain, resolve);
      process.emit(signal);
    });
    expect(hasDrained).toBe(true);
    expect(status).toBe(0);
    for (const each of STOP_SIGNALS) {
      const added = process.listeners(each).filter((one) => !before.includes(one));
      for (const one of added) process.off(each, one);
    }
  });
});
