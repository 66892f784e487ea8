/** Draws the part of the picture that is seen. */

import { formatShare } from '../ui/format.js';
import { type LayoutRow, type TreeLayout, visibleRun } from './layout.js';

export const ROW = 20;
/** Below this scale there is no room for text. */
const TEXT_SCALE = 0.6;
const RADIUS = 4;
/** Below this width a column has no room for how many items hang below. */
const ITEMS_COLUMN = 150;

/** Steps stand apart as far as the window has room, however small the rows are. */
export const columnScale = (scale: number) => Math.max(1, scale);

/** Position of the picture under the window: screen = picture * scale + offset. */
export interface Window {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
  /** Between two steps, before scaling. */
  readonly column: number;
  readonly width: number;
  readonly height: number;
}

export interface Palette {
  readonly kept: string;
  readonly found: string;
  readonly proved: string;
  readonly rejected: string;
  readonly chosen: string;
  readonly text: string;
  readonly faint: string;
}

export const PALETTES: Readonly<Record<'light' | 'dark', Palette>> = {
  light: {
    kept: '#1971c2',
    found: '#087f5b',
    proved: '#7048e8',
    rejected: '#adb5bd',
    chosen: '#d9480f',
    text: '#212529',
    faint: '#868e96',
  },
  dark: {
    kept: '#4dabf7',
    found: '#38d9a9',
    proved: '#9775fa',
    rejected: '#5c5f66',
    chosen: '#ff922b',
    text: '#e9ecef',
    faint: '#909296',
  },
};

export interface Picture {
  readonly rows: readonly LayoutRow[];
  readonly layout: TreeLayout;
  /** Nodes of the way that is shown. */
  readonly way: ReadonlySet<number>;
  /** Names of nodes by their path. */
  readonly names: Readonly<Record<string, string>>;
  /** The node that has the keyboard; -1: none. */
  readonly focus: number;
  /** False where prefixes go by keys that are no log-probabilities. */
  readonly isByScore: boolean;
}

const placeOf = ({ layout }: Picture, window: Window, index: number) => {
  const { x, y, scale, column } = window;
  const node = layout.nodes[index];
  return {
    x: (node?.level ?? 0) * column * columnScale(scale) + x,
    y: (node?.y ?? 0) * ROW * scale + y,
  };
};

/** Indices of the nodes that are seen, level by level. */
function seenNodes({ layout }: Picture, window: Window): readonly (readonly number[])[] {
  const top = (-ROW - window.y) / (ROW * window.scale) - 1;
  const bottom = (window.height + ROW - window.y) / (ROW * window.scale) + 1;
  return layout.levels.map((_, level) => {
    const column = window.column * columnScale(window.scale);
    const left = level * column + window.x;
    // Its links come from the column before it.
    const isSeen = left > -column && left - column < window.width;
    return isSeen ? visibleRun(layout, level, top, bottom) : [];
  });
}

type Kind = 'kept' | 'found' | 'proved' | 'rejected' | 'chosen';

function kindOf(picture: Picture, index: number): Kind {
  if (picture.way.has(index)) return 'chosen';
  const row = picture.rows[picture.layout.nodes[index]?.row ?? -1];
  if (row?.endsHere) return 'found';
  if (row?.provedOut) return 'proved';
  return row === undefined || row.goesOn ? 'kept' : 'rejected';
}

/** Characters of a name that a column has room for. */
const NAME_LENGTH_MAX = 14;

function label(
  row: LayoutRow | undefined,
  name: string | undefined,
  { isByScore }: Picture,
  tellsItems: boolean,
): string {
  if (row === undefined) return 'start';
  const short = name !== undefined && name.length > NAME_LENGTH_MAX;
  const said = short ? `${name.slice(0, NAME_LENGTH_MAX - 1)}…` : name;
  const own = row.code < 0 ? 'end' : String(row.code);
  const code = said === undefined ? own : `${own} ${said}`;
  const items = row.goesOn && tellsItems ? ` · ${row.atLeast ? '≥ ' : ''}${row.items} items` : '';
  const worth = isByScore ? formatShare(Math.exp(row.score)) : row.score.toFixed(3);
  return `${code} · ${worth}${items}`;
}

/** Draws one path per kind: a stroke for thousands of links costs what a few cost. */
export function drawTree(
  context: CanvasRenderingContext2D,
  picture: Picture,
  window: Window,
  palette: Palette,
): void {
  const { scale } = window;
  const radius = RADIUS * Math.max(0.4, Math.min(scale, 1.4));
  const kinds: readonly Kind[] = ['rejected', 'proved', 'kept', 'found', 'chosen'];
  const links = new Map(kinds.map((kind) => [kind, new Path2D()]));
  const dots = new Map(kinds.map((kind) => [kind, new Path2D()]));
  const seen = seenNodes(picture, window).flat();
  for (const index of seen) {
    const kind = kindOf(picture, index);
    const at = placeOf(picture, window, index);
    const parent = picture.layout.nodes[index]?.parent ?? -1;
    if (parent >= 0) {
      const from = placeOf(picture, window, parent);
      const middle = (from.x + at.x) / 2;
      const link = links.get(kind);
      link?.moveTo(from.x, from.y);
      link?.bezierCurveTo(middle, from.y, middle, at.y, at.x - radius, at.y);
    }
    const dot = dots.get(kind);
    dot?.moveTo(at.x + radius, at.y);
    dot?.arc(at.x, at.y, radius, 0, 2 * Math.PI);
  }
  context.clearRect(0, 0, window.width, window.height);
  for (const kind of kinds) {
    context.strokeStyle = palette[kind];
    context.lineWidth = kind === 'chosen' ? 2.5 : 1;
    context.globalAlpha = kind === 'chosen' ? 1 : 0.5;
    context.stroke(links.get(kind) as Path2D);
    context.globalAlpha = 1;
    context.fillStyle = palette[kind];
    if (kind === 'rejected' || kind === 'proved') context.stroke(dots.get(kind) as Path2D);
    else context.fill(dots.get(kind) as Path2D);
  }
  if (scale >= TEXT_SCALE) drawLabels(context, picture, window, palette, seen);
  if (picture.focus >= 0) {
    const at = placeOf(picture, window, picture.focus);
    context.strokeStyle = palette.text;
    context.lineWidth = 2;
    context.strokeRect(at.x - radius - 4, at.y - radius - 4, 2 * radius + 8, 2 * radius + 8);
  }
}

function drawLabels(
  context: CanvasRenderingContext2D,
  picture: Picture,
  window: Window,
  palette: Palette,
  seen: readonly number[],
): void {
  context.font = `${Math.round(11 * Math.min(window.scale, 1.4))}px system-ui, sans-serif`;
  context.textBaseline = 'middle';
  const tellsItems = window.column * columnScale(window.scale) >= ITEMS_COLUMN;
  for (const index of seen) {
    const at = placeOf(picture, window, index);
    const row = picture.rows[picture.layout.nodes[index]?.row ?? -1];
    context.fillStyle = kindOf(picture, index) === 'rejected' ? palette.faint : palette.text;
    const name = picture.names[picture.layout.nodes[index]?.path.join('-') ?? ''];
    context.fillText(
      label(row, name, picture, tellsItems),
      at.x + 9 * window.scale,
      at.y - 6 * window.scale,
    );
  }
}

/** The node at a place of the screen; -1 where there is none near. */
export function nodeAt(picture: Picture, window: Window, x: number, y: number): number {
  let [found, nearest] = [-1, 14];
  for (const index of seenNodes(picture, window).flat()) {
    const at = placeOf(picture, window, index);
    const distance = Math.hypot(at.x - x, at.y - y);
    if (distance < nearest) [found, nearest] = [index, distance];
  }
  return found;
}
