import { describe, expect, it } from 'vitest';
import { type CardLine, lineOf } from './card-documents.js';
import { cardRows } from './card-rows.js';

const line = (name: string, value: number, unit = 'us', work: Partial<CardLine> = {}) => ({
  ...lineOf(name, value, unit),
  ...work,
});

const rows = (...results: CardLine[]) => cardRows([{ card: 'a card', results }]);
const named = (name: string, measured: ReturnType<typeof rows>) =>
  measured.find((row) => row.name === `a card: ${name}`);

describe('rows of a run on a card', () => {
  it('measure kernels by the larger of computing and moving at the best ceilings', () => {
    const measured = rows(
      line('peak/copy', 2e12, 'bytes/s'),
      line('peak/product 8192', 3e14, 'operations/s'),
      line('peak/product 8192 through PyTorch', 5e14, 'operations/s'),
      line('kernels/s/computes', 40, 'us', { operations: 1e10, bytes: 2e6 }),
      line('kernels/s/moves', 40, 'us', { operations: 1e6, bytes: 2e7 }),
    );
    expect(named('kernels/s/computes', measured)?.ratio).toEqual({ value: 2, to: 'floor' });
    expect(named('kernels/s/moves', measured)?.ratio?.value).toBeCloseTo(4, 9);
  });

  it('leave the floor out where no ceiling was measured', () => {
    const alone = rows(line('kernels/s/x', 40, 'us', { operations: 1e10, bytes: 1 }));
    expect(alone).toEqual([{ name: 'a card: kernels/s/x', value: 40, unit: 'us', bar: null }]);
  });

  it('tell how many times faster than the published figure a recall is', () => {
    const name = 'recall/qwen3-1.7b/context 5000/requests 4/width 256';
    const other = 'recall/qwen3-0.6b/context 5000/requests 4/width 256';
    const wanted = 'recall/qwen3-1.7b/context 1000/requests 8/width 256';
    const measured = rows(line(name, 77_100), line(other, 10), line(wanted, 75_000));
    expect(named(name, measured)).toEqual({
      name: `a card: ${name}`,
      value: 77.1,
      unit: 'ms',
      ratio: { value: 2, to: 'published 154.2 ms' },
      bar: 1,
    });
    expect(named(wanted, measured)?.bar).toBe(93.2 / 75);
    expect(named(other, measured)?.ratio).toBeUndefined();
  });

  it('set products and attention against PyTorch, and few rows against their bytes', () => {
    const product = 'qwen3-1.7b/product qkv/4096x4096x2048';
    const few = 'kernels/qwen3-1.7b/product qkv/16x4096x2048';
    const measured = rows(
      line('peak/copy', 1e12, 'bytes/s'),
      line(`kernels/${product}`, 200),
      line(`PyTorch/${product}`, 150),
      line(few, 30, 'us', { bytes: 2e7 }),
      line('kernels/s/attention prompt/context 1000', 50, 'us', { bytes: 2e7 }),
    );
    const peer = named(`PyTorch/${product}`, measured);
    expect(peer).toMatchObject({ ratio: { value: 0.75, to: 'Tessera' }, bar: 0.85 });
    expect(named(few, measured)).toMatchObject({ bar: 1.3, bound: 'at-most' });
    expect(named(few, measured)?.ratio?.value).toBeCloseTo(1.5, 9);
    expect(named('kernels/s/attention prompt/context 1000', measured)?.bar).toBe(1.8);
  });

  it('set kinds of recalls against the plain one', () => {
    const prefix = 'kinds/qwen3-1.7b/context 1000';
    const measured = rows(
      line(`${prefix}/beam`, 100),
      line(`${prefix}/certified 50`, 90),
      line(`${prefix}/200 items`, 100),
      line(`${prefix}/200 items ranked`, 130),
    );
    const certified = { ratio: { value: 0.9, to: 'beam' }, bar: 1, bound: 'at-most' };
    expect(named(`${prefix}/certified 50`, measured)).toMatchObject(certified);
    expect(named(`${prefix}/200 items ranked`, measured)?.ratio?.value).toBe(1.3);
    expect(named(`${prefix}/beam`, measured)?.bar).toBeNull();
  });

  it('set transformers against our recall of the same context', () => {
    const peer = 'transformers loop/qwen3-1.7b/context 1000';
    const measured = rows(
      line('recall/qwen3-1.7b/context 1000/requests 1/width 256', 10_000),
      line('recall/qwen3-1.7b/context 1000/requests 8/width 256', 70_000),
      line(peer, 90_000),
    );
    expect(named(peer, measured)?.ratio).toEqual({ value: 9, to: 'Tessera' });
  });

  it('set what is found against its bytes, from the host too, and recalls under load', () => {
    const found = 'returning/qwen3-1.7b/context 5000/found on the host';
    const answered = 'load/qwen3-1.7b/context 5000/offered 95 percent/answered';
    const link = 'link/from the host through PyTorch';
    const measured = rows(
      line('peak/copy', 1e12, 'bytes/s'),
      line(link, 90 * 2 ** 30, 'bytes/s'),
      line(found, 3e6, 'us', { bytes: 1e12, linkBytes: 90 * 2 ** 30 }),
      line(answered, 40.2, 'requests/s'),
    );
    expect(named(found, measured)).toMatchObject({ ratio: { value: 1.5, to: 'floor' }, bar: 1.25 });
    expect(named(link, measured)).toMatchObject({ value: 90, unit: 'GiB/s', ratio: { value: 2 } });
    expect(named(answered, measured)?.ratio?.value).toBeCloseTo(2, 9);
  });
});
