import { Button, Group, Stack, Switch, Text, useComputedColorScheme } from '@mantine/core';
import {
  type KeyboardEvent,
  type RefObject,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { drawTree, nodeAt, PALETTES, type Picture, type Window } from './draw.js';
import {
  type LayoutRow,
  layOutTree,
  nodeOnPath,
  type PlacedNode,
  type TreeLayout,
  wayTo,
} from './layout.js';
import {
  columnOf,
  describeNode,
  fitted,
  HEIGHT,
  neighbour,
  type Place,
  START,
  showing,
} from './place.js';
import { useTreeWindow } from './use-tree-window.js';

/** Draws the picture once a frame at most, sharp on any screen. */
function useDrawing(
  canvas: RefObject<HTMLCanvasElement | null>,
  picture: Picture,
  window: Window,
): void {
  const scheme = useComputedColorScheme('light', { getInitialValueInEffect: false });
  const draw = useCallback(() => {
    const context = canvas.current?.getContext('2d');
    if (!context || window.width === 0) return;
    const ratio = globalThis.devicePixelRatio || 1;
    const [wide, high] = [Math.round(window.width * ratio), HEIGHT * ratio];
    if (context.canvas.width !== wide) context.canvas.width = wide;
    if (context.canvas.height !== high) context.canvas.height = high;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    drawTree(context, picture, window, PALETTES[scheme]);
  }, [canvas, picture, window, scheme]);
  useEffect(() => {
    const frameId = requestAnimationFrame(draw);
    return () => cancelAnimationFrame(frameId);
  }, [draw]);
}

function Controls({
  showsRejected,
  onRejected,
  onAll,
  onBest,
}: {
  showsRejected: boolean;
  onRejected: (shows: boolean) => void;
  onAll: () => void;
  onBest: () => void;
}) {
  return (
    <Group>
      <Button size="compact-sm" variant="default" onClick={onAll}>
        Show all
      </Button>
      <Button size="compact-sm" variant="default" onClick={onBest}>
        Best paths
      </Button>
      <Switch
        label="Rejected candidates"
        checked={showsRejected}
        onChange={(event) => onRejected(event.currentTarget.checked)}
      />
      <Text size="xs" c="dimmed">
        Drag to move, Ctrl and wheel to zoom; arrows walk, + and − zoom, 0 shows all.
      </Text>
    </Group>
  );
}

function useWindow(layout: TreeLayout, place: Place, width: number): Window {
  return useMemo(
    () => ({ ...place, column: columnOf(layout, width), width, height: HEIGHT }),
    [place, layout, width],
  );
}

function labelOf(rows: readonly LayoutRow[], { levels }: TreeLayout): string {
  return `Tree of the search: ${rows.length} candidates in ${levels.length - 1} steps`;
}

function described(
  rows: readonly LayoutRow[],
  node: PlacedNode | undefined,
  bound: number | undefined,
  names: Readonly<Record<string, string>>,
): string {
  if (node === undefined) return '';
  const name = names[node.path.join('-')];
  const mostly = name === undefined ? '' : ` Most items below are ${name}.`;
  return describeNode(rows, node.path, rows[node.row], bound) + mostly;
}

/** The keys of the tree: + and − zoom, 0 shows all, Escape lets go, arrows walk. */
function keysOf(
  zoomByKey: (event: KeyboardEvent) => boolean,
  act: { showAll: () => void; letGo: () => void; walk: (key: string) => void },
) {
  return (event: KeyboardEvent) => {
    if (zoomByKey(event)) event.preventDefault();
    else if (event.key === '0') act.showAll();
    else if (event.key === 'Escape') act.letGo();
    else if (event.key.startsWith('Arrow')) act.walk(event.key);
    else return;
    event.preventDefault();
  };
}

interface BeamTreeProps {
  readonly rows: readonly LayoutRow[];
  /** Its way is shown, as far as the search went with it. */
  readonly sid: readonly number[] | undefined;
  /** Score of the last item: what is below it cannot reach the answer. Undefined: keys decide. */
  readonly bound: number | undefined;
  /** Names of nodes by their path; left out: not known. */
  readonly names?: Readonly<Record<string, string>>;
}

const NO_NAMES = {};

export function BeamTree({ rows, sid, bound, names = NO_NAMES }: BeamTreeProps) {
  const [showsRejected, setShowsRejected] = useState(true);
  const layout = useMemo(() => layOutTree(rows, showsRejected), [rows, showsRejected]);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [focus, setFocus] = useState(-1);
  const onClick = (x: number, y: number) => setFocus(nodeAt(picture, window, x, y));
  const { frame, width, place, setPlace, pointers, zoomByKey } = useTreeWindow(canvas, onClick);
  const shown = sid === undefined ? focus : nodeOnPath(layout, sid);
  const picture: Picture = useMemo(() => {
    const way = wayTo(layout, focus >= 0 ? focus : shown);
    return { rows, layout, way, names, focus, isByScore: bound !== undefined };
  }, [rows, layout, shown, names, focus, bound]);
  const window = useWindow(layout, place, width);
  useDrawing(canvas, picture, window);

  // Another item: its way comes into the window.
  useEffect(() => {
    if (sid === undefined) return;
    setFocus(-1);
    const node = layout.nodes[nodeOnPath(layout, sid)];
    if (node !== undefined) setPlace((now) => showing(now, node.y));
  }, [sid, layout, setPlace]);

  const walk = (key: string) => {
    const next = neighbour(layout, focus < 0 ? Math.max(0, shown) : focus, key);
    const node = layout.nodes[next];
    setFocus(next);
    if (node !== undefined) setPlace((now) => showing(now, node.y));
  };
  const showAll = () => setPlace(fitted(layout));
  const onKeyDown = keysOf(zoomByKey, { showAll, letGo: () => setFocus(-1), walk });
  return (
    <Stack gap="xs">
      <Controls
        showsRejected={showsRejected}
        onRejected={setShowsRejected}
        onAll={showAll}
        onBest={() => setPlace(START)}
      />
      <div ref={frame}>
        <canvas
          ref={canvas}
          className="beam-tree"
          style={{ height: HEIGHT }}
          tabIndex={0}
          role="img"
          aria-label={labelOf(rows, layout)}
          data-nodes={layout.nodes.length}
          onKeyDown={onKeyDown}
          {...pointers}
        />
      </div>
      <Text size="sm" aria-live="polite">
        {described(rows, layout.nodes[focus >= 0 ? focus : Math.max(0, shown)], bound, names)}
      </Text>
    </Stack>
  );
}
