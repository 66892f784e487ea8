import { join } from 'node:path';
import { seededRandom, temporaryFolder } from '@tessera/testing';
import { describe, expect, it } from 'vitest';
import { parseExposures, readExposures } from './exposures.js';
import { headFigures, type Row } from './head-figures.js';

const rowsOf = (...rows: readonly (readonly [string, number, number])[]): Row[] =>
  rows.map(([user, label, prediction]) => ({ user, label, prediction }));

describe('the figures of a head', () => {
  it('are those of the definitions, on rows that were counted by hand', () => {
    const rows = rowsOf(
      ['a', 1, 0.75],
      ['a', 0, 0.25],
      ['b', 1, 0.25],
      ['b', 1, 0.5],
      ['a', 0, 0.5],
    );
    const figures = headFigures(rows, 2);
    // Of a positive and a negative: 0.75 is above both; 0.25 ties one; 0.5 is above one, ties one.
    expect(figures).toMatchObject({ rows: 5, skipped: 2, auc: (2 + 0.5 + 1.5) / 6 });
    expect(figures).toMatchObject({ userAuc: 1, users: 1, meanLabel: 0.6, meanPrediction: 0.45 });
    const { logLoss, calibrationError, rmse } = figures;
    expect(logLoss).toBeCloseTo(-(2 * Math.log(0.75) + Math.log(0.25) + 2 * Math.log(0.5)) / 5, 15);
    // A bin for each row.
    expect(calibrationError).toBeCloseTo((0.25 + 0.25 + 0.75 + 0.5 + 0.5) / 5, 15);
    expect(rmse).toBeCloseTo(Math.sqrt((2 * 0.0625 + 0.5625 + 2 * 0.25) / 5), 15);
  });

  it('are those of the definitions, by brute force over drawn rows', () => {
    const seed = 20261127;
    const random = seededRandom(seed);
    const rows = Array.from({ length: 400 }, () => ({
      user: `u${Math.floor(random() * 9)}`,
      label: random() < 0.3 ? 1 : 0,
      prediction: Math.floor(random() * 40) / 40,
    }));
    const area = (own: readonly Row[]) => {
      const [good, bad] = [1, 0].map((wanted) => own.filter(({ label }) => label === wanted));
      const wins = (good ?? []).flatMap(({ prediction }) =>
        (bad ?? []).map(
          (other) =>
            Number(prediction > other.prediction) + Number(prediction === other.prediction) / 2,
        ),
      );
      return wins.reduce((sum, one) => sum + one, 0) / wins.length;
    };
    const figures = headFigures(rows, 0);
    expect(figures.auc, `seed ${seed}`).toBeCloseTo(area(rows), 12);
    const users = [...new Set(rows.map(({ user }) => user))].map((user) =>
      rows.filter((row) => row.user === user),
    );
    const weighed = users.reduce((sum, own) => sum + own.length * area(own), 0) / rows.length;
    expect(figures.userAuc, `seed ${seed}`).toBeCloseTo(weighed, 12);
  });

  it('mean nothing without both outcomes, and for labels that are no outcomes', () => {
    expect(headFigures(rowsOf(['a', 1, 1], ['b', 1, 0]), 0)).toMatchObject({
      auc: null,
      userAuc: null,
      users: 0,
      logLoss: -Math.log(1e-7) / 2 - Math.log(1 - 1e-7) / 2,
    });
    expect(headFigures(rowsOf(['a', 2.5, 2], ['b', 0, 0.5]), 1)).toMatchObject({
      auc: null,
      logLoss: null,
      calibrationError: null,
      meanLabel: 1.25,
      rmse: 0.5,
    });
    expect(headFigures([], 3)).toMatchObject({ rows: 0, skipped: 3, meanLabel: null, rmse: null });
  });
});

describe('exposures with outcomes', () => {
  it('of one moment are ranked together, with what the user had done before', async () => {
    const table = [
      'item\tuser\ttime\tclick\tweight',
      'x\ta\t20\t1\t3',
      'y\ta\t20\t\t1',
      'x\tb\t5\t0\t1',
    ];
    const folder = temporaryFolder({
      'exposures.tsv': `${table.join('\r\n')}\r\n`,
      'users.jsonl': [
        { user: 'a', history: ['p', 'q', 'r'], times: [10, 20, 30] },
        { user: 'b', history: ['p'], times: [5] },
      ]
        .map((row) => `${JSON.stringify(row)}\n`)
        .join(''),
    });
    const at = (name: string) => join(folder.path, name);
    const { heads, all, impressions, store } = await readExposures(
      at('exposures.tsv'),
      at('users.jsonl'),
    );
    folder.remove();
    expect(heads).toEqual(['click']);
    expect(all.map(({ labels }) => labels.get('click'))).toEqual([1, Number.NaN, 0]);
    expect(impressions).toMatchObject([{ exposures: [{ item: 'x' }, { item: 'y' }] }]);
    const history = await store.history(impressions[0]?.userId ?? '', 9);
    expect(history?.map(({ itemId }) => itemId)).toEqual(['p']);
  });

  it.each([
    ['', 'expected a column user in line 1'],
    ['user\ttime\titem\n', 'expected a column for each head in line 1, got none'],
    ['user\ttime\titem\tclick\n', 'expected an exposure, got none'],
    ['user\ttime\titem\tclick\na\t1\tx\n', 'expected 4 columns in line 2, got 3'],
    ['user\ttime\titem\tclick\na\t1\tx\tyes\n', "expected a number as click of line 2, got 'yes'"],
    ['user\ttime\titem\tclick\na\t\tx\t1\n', "expected a number as time of line 2, got ''"],
  ])('%j are refused', (text, message) => {
    expect(() => parseExposures(text)).toThrow(message);
  });
});
