import { describe, expect, it } from 'vitest';
import { type LayoutRow, layOutTree, nodeOnPath, visibleRun, wayTo } from './layout.js';

function row(
  step: number,
  parent: number,
  code: number,
  score: number,
  outcome: 'on' | 'end' | 'cut',
): LayoutRow {
  const marks = { goesOn: outcome === 'on', endsHere: outcome === 'end' };
  return { step, parent, code, score, ...marks, items: 1, atLeast: false, provedOut: false };
}

const ROWS = [
  row(0, -1, 7, -1, 'on'),
  row(0, -1, 3, -0.5, 'on'),
  row(0, -1, 9, -4, 'cut'),
  row(1, 0, 1, -1.2, 'end'),
  row(1, 1, 2, -2, 'end'),
  row(1, 1, 5, -3, 'end'),
  row(1, 0, 4, -9, 'cut'),
];

const pathsOf = (layout: ReturnType<typeof layOutTree>, level: number) =>
  (layout.levels[level] ?? []).map((index) => layout.nodes[index]?.path.join('-'));

describe('the picture of a search', () => {
  it('stands branches where their best path does, and rejected ones last', () => {
    const layout = layOutTree(ROWS, true);
    expect(pathsOf(layout, 1)).toEqual(['7', '3', '9']);
    expect(pathsOf(layout, 2)).toEqual(['7-1', '7-4', '3-2', '3-5']);
    expect(layout.height).toBe(5);
  });

  it('leaves rejected candidates out where they are not wanted', () => {
    const layout = layOutTree(ROWS, false);
    expect(layout.nodes).toHaveLength(6);
    expect(pathsOf(layout, 1)).toEqual(['7', '3']);
  });

  it('gives each leaf a row of its own and stands parents where their first child does', () => {
    const { nodes } = layOutTree(ROWS, true);
    const hasChild = new Set(nodes.map((node) => node.parent));
    const leaves = nodes.flatMap((node, index) => (hasChild.has(index) ? [] : [node.y]));
    expect(leaves.sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4]);
    const y = (path: string) => nodes.find((node) => node.path.join('-') === path)?.y;
    expect([y('7'), y('3'), y('')]).toEqual([0, 2, 0]);
  });

  it('keeps levels from top to bottom, so that what is seen is a run', () => {
    const many: LayoutRow[] = [];
    let seed = 1;
    const random = () => {
      seed = (seed * 16_807) % 2_147_483_647;
      return seed / 2_147_483_647;
    };
    for (let step = 0; step < 4; step++) {
      const above = many.flatMap((one, index) =>
        one.step === step - 1 && one.goesOn ? [index] : [],
      );
      for (let i = 0; i < 600; i++) {
        const parent = step === 0 ? -1 : (above[Math.floor(random() * above.length)] ?? -1);
        const outcome = i < 512 ? (step === 3 ? 'end' : 'on') : 'cut';
        many.push(row(step, parent, i, -random() * 10 - step, outcome));
      }
    }
    const layout = layOutTree(many, true);
    expect(layout.nodes).toHaveLength(2401);
    for (const [level, indices] of layout.levels.entries()) {
      const ys = indices.map((index) => layout.nodes[index]?.y ?? 0);
      expect(ys).toEqual([...ys].sort((a, b) => a - b));
      const seen = visibleRun(layout, level, 100, 200);
      const expected = indices.filter((index) => {
        const { y = 0 } = layout.nodes[index] ?? {};
        return y >= 100 && y <= 200;
      });
      expect(seen).toEqual(expected);
    }
  });

  it('finds the way of a SID, as far as the search went with it', () => {
    const layout = layOutTree(ROWS, true);
    const path = (sid: number[]) => layout.nodes[nodeOnPath(layout, sid)]?.path.join('-');
    expect([path([3, 5]), path([7, 8]), path([8, 8]), path([9, 1])]).toEqual(['3-5', '7', '', '9']);
    expect(wayTo(layout, nodeOnPath(layout, [3, 5])).size).toBe(3);
  });

  it('of a search that found nothing is the root alone', () => {
    const layout = layOutTree([], true);
    expect(layout).toMatchObject({ height: 1, levels: [[0]] });
  });
});
