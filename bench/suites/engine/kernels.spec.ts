import { describe, expect, it } from 'vitest';
import { productRows } from './kernels.js';

const result = (name: string, value: number, unit = 'ratio') => ({ name, value, unit });

describe('rows of the matrix products', () => {
  const rows = productRows([
    result('avx2/product/F32/1x3072x1024/2t/cold', 9, 'GFLOP/s'),
    result('avx2/product/F32/1x3072x1024/2t/cold/of_floor', 0.9),
    result('avx2/product/F32/512x3072x1024/2t/hot', 190, 'GFLOP/s'),
    result('avx2/product/F32/512x3072x1024/2t/hot/of_floor', 0.87),
    result('avx-vnni/product/INT8/64x3072x1024/2t/cold', 190, 'GFLOP/s'),
    result('avx-vnni/product/INT8/64x3072x1024/2t/cold/of_floor', 0.6),
    result('amx/product/INT8/64x3072x1024/2t/cold', 190, 'GFLOP/s'),
    result('amx/product/INT8/64x3072x1024/2t/cold/of_floor', 0.5),
    result('avx2/product/F32/8x3072x1024/2t/hot', 50, 'GFLOP/s'),
    result('memory/read/2t', 35, 'GB/s'),
  ]);

  it('carry their share of the ceiling and the bar of their set, type and size', () => {
    expect(rows.map(({ ratio, bar }) => [ratio?.value, ratio?.to, bar])).toEqual([
      [0.9, 'ceiling', 0.95],
      [0.87, 'ceiling', null],
      [0.6, 'ceiling', 0.65],
      [0.5, 'ceiling', null],
    ]);
  });

  it('leave out sizes that are not stated, and what is no product', () => {
    expect(rows.every(({ name }) => !name.includes('/8x') && !name.startsWith('memory'))).toBe(
      true,
    );
  });
});
