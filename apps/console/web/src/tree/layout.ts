/** Positions of a search's candidates in its picture. Pure: rows in, places out. */

/** A candidate of a search, as the API gives it. */
export interface LayoutRow {
  readonly step: number;
  /** Index of the row that it continues; -1: the root. */
  readonly parent: number;
  readonly code: number;
  readonly score: number;
  readonly goesOn: boolean;
  readonly endsHere: boolean;
  readonly items: number;
  readonly atLeast: boolean;
  /** Kept and not computed: nothing below it can reach the answer. */
  readonly provedOut: boolean;
}

export interface PlacedNode {
  /** Index of its row; -1: the root. */
  readonly row: number;
  /** Index into `nodes`; -1: of the root. */
  readonly parent: number;
  /** 0 for the root, then 1 more than the step. */
  readonly level: number;
  /** In rows of the picture: a leaf has one of its own, others that of their first child. */
  readonly y: number;
  /** Codes from the root on. */
  readonly path: readonly number[];
}

export interface TreeLayout {
  /** The root first, then in the order of the rows that are shown. */
  readonly nodes: readonly PlacedNode[];
  /** Per level, indices into `nodes`, from top to bottom. */
  readonly levels: readonly (readonly number[])[];
  /** Rows of the picture. */
  readonly height: number;
}

interface Branch {
  readonly row: number;
  readonly children: Branch[];
  best: number;
}

/**
 * Children stand best score first; a branch stands where its best path does, so that the way of the
 * first item is a straight line along the top. Rejected candidates are left out where not wanted.
 */
export function layOutTree(rows: readonly LayoutRow[], showsRejected: boolean): TreeLayout {
  const root = branchesOf(rows, showsRejected);
  const nodes: { row: number; parent: number; level: number; y: number; path: number[] }[] = [];
  const levels: number[][] = [];
  let nextLeaf = 0;
  const place = (branch: Branch, parent: number, level: number, path: number[]): number => {
    const index = nodes.push({ row: branch.row, parent, level, y: 0, path }) - 1;
    const level0 = levels[level] ?? [];
    levels[level] = level0;
    level0.push(index);
    const ys = branch.children.map((child) =>
      place(child, index, level + 1, [...path, rows[child.row]?.code ?? -1]),
    );
    const [y = nextLeaf++] = ys;
    (nodes[index] as { y: number }).y = y;
    return y;
  };
  place(root, -1, 0, []);
  return { nodes, levels, height: nextLeaf };
}

function branchesOf(rows: readonly LayoutRow[], showsRejected: boolean): Branch {
  const root: Branch = { row: -1, children: [], best: Number.NEGATIVE_INFINITY };
  const branches = rows.map((row, index): Branch | undefined => {
    const isRejected = !row.goesOn && !row.endsHere;
    if (isRejected && !showsRejected) return undefined;
    // A rejected candidate never comes before a kept one.
    const best = row.endsHere ? row.score : Number.NEGATIVE_INFINITY;
    return { row: index, children: [], best };
  });
  for (let index = rows.length - 1; index >= 0; index--) {
    const branch = branches[index];
    if (branch === undefined) continue;
    const parent = branches[rows[index]?.parent ?? -1] ?? root;
    parent.best = Math.max(parent.best, branch.best);
    parent.children.push(branch);
  }
  const scoreOf = (branch: Branch) => rows[branch.row]?.score ?? 0;
  const keptFirst = (branch: Branch) => {
    const row = rows[branch.row];
    return row !== undefined && (row.goesOn || row.endsHere) ? 0 : 1;
  };
  // Where neither leads anywhere the difference is not a number, and the next rule decides.
  const order = (a: Branch, b: Branch) =>
    keptFirst(a) - keptFirst(b) || b.best - a.best || scoreOf(b) - scoreOf(a) || a.row - b.row;
  for (const branch of [root, ...branches]) branch?.children.sort(order);
  return root;
}

/** Nodes of a level whose place is in [top, bottom], as a run of `levels[level]`. */
export function visibleRun(
  layout: TreeLayout,
  level: number,
  top: number,
  bottom: number,
): readonly number[] {
  const indices = layout.levels[level] ?? [];
  const yOf = (at: number) => layout.nodes[indices[at] as number]?.y ?? 0;
  const first = lowerBound(indices.length, (at) => yOf(at) >= top);
  const end = lowerBound(indices.length, (at) => yOf(at) > bottom);
  return indices.slice(first, end);
}

/** The first place in [0, count) from which on `holds`; count where it never does. */
function lowerBound(count: number, holds: (at: number) => boolean): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The node of the longest beginning of a SID, from the root on; the root where none is there. */
export function nodeOnPath(layout: TreeLayout, sid: readonly number[]): number {
  let found = 0;
  layout.nodes.forEach((node, index) => {
    const isOnWay =
      node.path.length <= sid.length && node.path.every((code, level) => code === sid[level]);
    if (isOnWay && node.path.length > (layout.nodes[found]?.path.length ?? 0)) found = index;
  });
  return found;
}

/** The node and those above it. */
export function wayTo(layout: TreeLayout, node: number): ReadonlySet<number> {
  const way = new Set<number>();
  for (let at = node; at >= 0; at = layout.nodes[at]?.parent ?? -1) way.add(at);
  return way;
}
