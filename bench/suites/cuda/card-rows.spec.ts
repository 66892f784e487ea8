import { describe, expect, it } from 'vitest';
import type { CardLine } from './card-documents.js';
import { cardRows } from './card-rows.js';

const line = (name: string, value: number, unit = 'us', work: Partial<CardLine> = {}) => ({
  name,
  value,
  unit,
  operations: 0,
  bytes: 0,
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
    const measured = rows(line(name, 77_100), line(other, 10));
    expect(named(name, measured)).toEqual({
      name: `a card: ${name}`,
      value: 77.1,
      unit: 'ms',
      ratio: { value: 2, to: 'published 154.2 ms' },
      bar: 1,
    });
    expect(named(other, measured)?.ratio).toBeUndefined();
  });

  it('set a step against the best of the sparse-matrix method and the recall it is part of', () => {
    const step = 'constraint/1000000 SIDs/width 256/step, mean';
    const sparse = 'sparse matrix/1000000 SIDs/width 256';
    const measured = rows(
      line(step, 50),
      line('recall/qwen3-1.7b/context 1000/requests 1/width 256', 15_000),
      line(`${sparse}/dense layers 0/eager/step, mean`, 300),
      line(`${sparse}/dense layers 2/graph/step, mean`, 100),
      line(`${sparse}/dense layers 2/graph/level 0`, 10),
      line('sparse matrix/1000000 SIDs/width 70/dense layers 2/graph/step, mean', 20),
    );
    expect(named(step, measured)?.ratio).toEqual({ value: 2, to: 'sparse matrix, its best' });
    expect(named(`${step}, share of a recall of a context of 1000`, measured)).toMatchObject({
      value: 1,
      unit: '%',
      bound: 'at-most',
    });
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

  it('tell the rate of keys and values from the host, and of recalls under load', () => {
    const copy = 'returning/qwen3-1.7b/context 1000/copied from the host';
    const answered = 'load/qwen3-1.7b/context 5000/offered 95 percent/answered';
    const measured = rows(
      line(copy, 1e6, 'us', { bytes: 90 * 2 ** 30 }),
      line(answered, 40.2, 'requests/s'),
    );
    expect(named(copy, measured)).toMatchObject({ value: 90, unit: 'GiB/s', ratio: { value: 2 } });
    expect(named(answered, measured)?.ratio?.value).toBeCloseTo(2, 9);
  });
});
