/** Position of a tree's picture under its window, and the directions of keys. */

import { columnScale, ROW } from './draw.js';
import type { LayoutRow, TreeLayout } from './layout.js';

export const HEIGHT = 520;
const MARGIN = 30;
const SCALE_MIN = 0.02;
const SCALE_MAX = 3;
const LABEL = 124;
const COLUMN_MIN = 90;
const COLUMN_MAX = 220;

export interface Place {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
}

/** The top of the picture, where the best paths are, large enough to be read. */
export const START: Place = { x: MARGIN, y: MARGIN, scale: 1 };

/** Width of a column: as the window has room for, with the label of the last step. */
export function columnOf(layout: TreeLayout, width: number): number {
  const room = (width - MARGIN - LABEL) / Math.max(1, layout.levels.length - 1);
  return Math.min(COLUMN_MAX, Math.max(COLUMN_MIN, room));
}

/** All rows in the window. */
export function fitted(layout: TreeLayout): Place {
  const scale = Math.min(1, (HEIGHT - 2 * MARGIN) / (layout.height * ROW));
  return { x: MARGIN, y: MARGIN, scale: Math.max(SCALE_MIN, scale) };
}

/** Larger or smaller by a factor, around a point of the window. */
export function zoomed(now: Place, factor: number, x: number, y: number): Place {
  const scale = Math.min(SCALE_MAX, Math.max(SCALE_MIN, now.scale * factor));
  const widened = columnScale(scale) / columnScale(now.scale);
  const grown = scale / now.scale;
  return { scale, x: x - (x - now.x) * widened, y: y - (y - now.y) * grown };
}

/** With a row of the picture in the middle, as far as there is picture above it. */
export function showing(now: Place, y: number): Place {
  return { ...now, y: Math.min(MARGIN, HEIGHT / 2 - y * ROW * now.scale) };
}

/** The node that an arrow key leads to. */
export function neighbour(layout: TreeLayout, from: number, key: string): number {
  const node = layout.nodes[from];
  if (node === undefined) return 0;
  const level = layout.levels[node.level] ?? [];
  const place = level.indexOf(from);
  if (key === 'ArrowLeft') return node.parent < 0 ? from : node.parent;
  if (key === 'ArrowUp') return level[Math.max(0, place - 1)] ?? from;
  if (key === 'ArrowDown') return level[Math.min(level.length - 1, place + 1)] ?? from;
  const below = layout.levels[node.level + 1] ?? [];
  return below.find((index) => layout.nodes[index]?.parent === from) ?? from;
}

function fateOf(row: LayoutRow, bound: number | undefined): string {
  if (row.endsHere) return 'a path that was found';
  if (row.provedOut) {
    const last = bound === undefined ? '' : ` (${bound.toFixed(3)})`;
    return `proved out: below the last item${last} at ${row.score.toFixed(3)}`;
  }
  return row.goesOn ? 'kept for the next step' : 'rejected: others scored more';
}

/**
 * A node in words.
 * @param bound score of the last item of the answer; left out where a key, not a score, decides
 */
export function describeNode(
  rows: readonly LayoutRow[],
  path: readonly number[],
  row?: LayoutRow,
  bound?: number,
) {
  if (row === undefined) return 'The start of the search.';
  const above = row.parent < 0 ? 0 : (rows[row.parent]?.score ?? 0);
  const fate = fateOf(row, bound);
  const items = `${row.atLeast ? 'at least ' : ''}${row.items} live and eligible items below`;
  const percent = (score: number) => `${(Math.exp(score) * 100).toPrecision(3)} %`;
  const chance =
    bound === undefined
      ? `key ${row.score.toFixed(3)}`
      : `probability ${percent(row.score)} (${percent(row.score - above)} of this step)`;
  const sid = path.map((code) => (code < 0 ? 'end' : code)).join('-');
  return `SID ${sid}: ${fate}; ${chance}; ${items}.`;
}
