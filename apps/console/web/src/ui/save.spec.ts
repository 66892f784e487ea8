import { expect, it } from 'vitest';
import { csvOf, fileName } from './save.js';

it('a table is UTF-8 that Excel knows as such, and computes nothing', () => {
  const rows = [
    ['Item, or "ad"', 'n'],
    ['動作ゲーム', -1.5],
    ['=1+1', undefined],
  ];
  expect(csvOf(rows)).toBe('\ufeff"Item, or ""ad""",n\r\n動作ゲーム,-1.5\r\n\'=1+1,\r\n');
  expect(fileName('Share of each 分類 / by scene', 'csv')).toBe('Share-of-each-分類-by-scene.csv');
});
