import { Button, Group, Stack, Switch, Text, useComputedColorScheme } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import {
  type KeyboardEvent,
  type PointerEvent,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { drawTree, nodeAt, PALETTES, type Picture, ROW, type Window } from './draw.js';
import { type LayoutRow, layOutTree, nodeOnPath, type TreeLayout, wayTo } from './layout.js';

const HEIGHT = 520;
const SCALE_MIN = 0.02;
const SCALE_MAX = 3;
const MARGIN = 30;
const LABEL = 100;
const COLUMN_MIN = 110;
const COLUMN_MAX = 220;

/** As wide as the window has room for, with the label of the last step. */
function columnOf(layout: TreeLayout, width: number): number {
  const room = (width - MARGIN - LABEL) / Math.max(1, layout.levels.length - 1);
  return Math.min(COLUMN_MAX, Math.max(COLUMN_MIN, room));
}

/** The whole picture in the window. */
function fitted(layout: TreeLayout, width: number) {
  const wide = (layout.levels.length - 1) * columnOf(layout, width) + LABEL;
  const scale = Math.min(1, (width - MARGIN) / wide, (HEIGHT - 2 * MARGIN) / (layout.height * ROW));
  return { x: MARGIN, y: MARGIN, scale: Math.max(SCALE_MIN, scale) };
}

/** The top of the picture, where the best paths are, large enough to be read. */
const START = { x: MARGIN, y: MARGIN, scale: 1 };

/** The node that an arrow key leads to. */
function neighbour(layout: TreeLayout, from: number, key: string): number {
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

/** What a node is, in words. */
export function describeNode(rows: readonly LayoutRow[], path: readonly number[], row?: LayoutRow) {
  if (row === undefined) return 'The start of the search.';
  const above = row.parent < 0 ? 0 : (rows[row.parent]?.score ?? 0);
  const fate = row.endsHere
    ? 'a path that was found'
    : row.goesOn
      ? 'kept for the next step'
      : 'rejected: others scored more';
  const items = `${row.atLeast ? 'at least ' : ''}${row.items} live and eligible items below`;
  const percent = (score: number) => `${(Math.exp(score) * 100).toPrecision(3)} %`;
  const chance = `probability ${percent(row.score)} (${percent(row.score - above)} of this step)`;
  return `SID ${path.map((code) => (code < 0 ? 'end' : code)).join('-')}: ${fate}; ${chance}; ${items}.`;
}

export function BeamTree({
  rows,
  sid,
}: {
  rows: readonly LayoutRow[];
  /** Whose way is shown, as far as the search went with it. */
  sid: readonly number[] | undefined;
}) {
  const [showsRejected, setShowsRejected] = useState(true);
  const layout = useMemo(() => layOutTree(rows, showsRejected), [rows, showsRejected]);
  const scheme = useComputedColorScheme('light', { getInitialValueInEffect: false });
  const { ref: frame, width } = useElementSize();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [place, setPlace] = useState(START);
  const [focus, setFocus] = useState(-1);
  const dragged = useRef<{ x: number; y: number; moved: boolean } | undefined>(undefined);
  const shown = sid === undefined ? focus : nodeOnPath(layout, sid);
  const picture: Picture = useMemo(
    () => ({ rows, layout, way: wayTo(layout, focus >= 0 ? focus : shown), focus }),
    [rows, layout, shown, focus],
  );
  const window: Window = useMemo(
    () => ({ ...place, column: columnOf(layout, width), width, height: HEIGHT }),
    [place, layout, width],
  );

  const draw = useCallback(() => {
    const context = canvas.current?.getContext('2d');
    if (!context || width === 0) return;
    const ratio = globalThis.devicePixelRatio || 1;
    const [wide, high] = [Math.round(width * ratio), HEIGHT * ratio];
    if (context.canvas.width !== wide) context.canvas.width = wide;
    if (context.canvas.height !== high) context.canvas.height = high;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    drawTree(context, picture, window, PALETTES[scheme]);
  }, [picture, window, scheme, width]);

  useEffect(() => {
    const frameId = requestAnimationFrame(draw);
    return () => cancelAnimationFrame(frameId);
  }, [draw]);

  // Another item: its way comes into the window.
  useEffect(() => {
    if (sid === undefined) return;
    setFocus(-1);
    const node = layout.nodes[nodeOnPath(layout, sid)];
    if (node === undefined || width === 0) return;
    setPlace((now) => ({ ...now, y: Math.min(MARGIN, HEIGHT / 2 - node.y * ROW * now.scale) }));
  }, [sid, layout, width]);

  const zoom = useCallback((factor: number, x: number, y: number) => {
    setPlace((now) => {
      const scale = Math.min(SCALE_MAX, Math.max(SCALE_MIN, now.scale * factor));
      const grown = scale / now.scale;
      return { scale, x: x - (x - now.x) * grown, y: y - (y - now.y) * grown };
    });
  }, []);

  // React listens to wheels passively: the page would scroll as well.
  useEffect(() => {
    const target = canvas.current;
    const onWheel = (event: WheelEvent) => {
      event.preventDefault();
      if (event.ctrlKey || event.metaKey) {
        zoom(Math.exp(-event.deltaY / 300), event.offsetX, event.offsetY);
      } else {
        setPlace((now) => ({ ...now, x: now.x - event.deltaX, y: now.y - event.deltaY }));
      }
    };
    target?.addEventListener('wheel', onWheel, { passive: false });
    return () => target?.removeEventListener('wheel', onWheel);
  }, [zoom]);

  const onPointerMove = (event: PointerEvent) => {
    const from = dragged.current;
    if (from === undefined) return;
    const [dx, dy] = [event.clientX - from.x, event.clientY - from.y];
    dragged.current = {
      x: event.clientX,
      y: event.clientY,
      moved: from.moved || dx * dx + dy * dy > 4,
    };
    setPlace((now) => ({ ...now, x: now.x + dx, y: now.y + dy }));
  };
  const onPointerUp = (event: PointerEvent) => {
    const wasClick = dragged.current?.moved === false;
    dragged.current = undefined;
    const { offsetX, offsetY } = event.nativeEvent;
    if (wasClick) setFocus(nodeAt(picture, window, offsetX, offsetY));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const { key } = event;
    if (key === '+' || key === '-') zoom(key === '+' ? 1.25 : 0.8, width / 2, HEIGHT / 2);
    else if (key === '0') setPlace(fitted(layout, width));
    else if (key === 'Escape') setFocus(-1);
    else if (key.startsWith('Arrow')) {
      const next = neighbour(layout, focus < 0 ? Math.max(0, shown) : focus, key);
      const node = layout.nodes[next];
      setFocus(next);
      if (node !== undefined) {
        setPlace((now) => ({ ...now, y: Math.min(MARGIN, HEIGHT / 2 - node.y * ROW * now.scale) }));
      }
    } else return;
    event.preventDefault();
  };

  const told = layout.nodes[focus >= 0 ? focus : Math.max(0, shown)];
  return (
    <Stack gap="xs">
      <Group>
        <Button size="compact-sm" variant="default" onClick={() => setPlace(fitted(layout, width))}>
          Show all
        </Button>
        <Button size="compact-sm" variant="default" onClick={() => setPlace(START)}>
          Best paths
        </Button>
        <Switch
          label="Rejected candidates"
          checked={showsRejected}
          onChange={(event) => setShowsRejected(event.currentTarget.checked)}
        />
        <Text size="xs" c="dimmed">
          Drag to move, Ctrl and wheel to zoom; arrows walk, + and − zoom, 0 shows all.
        </Text>
      </Group>
      <div ref={frame}>
        <canvas
          ref={canvas}
          className="beam-tree"
          style={{ height: HEIGHT }}
          tabIndex={0}
          role="img"
          aria-label={`Tree of the search: ${rows.length} candidates in ${layout.levels.length - 1} steps`}
          data-nodes={layout.nodes.length}
          onPointerDown={(event) => {
            event.currentTarget.setPointerCapture(event.pointerId);
            dragged.current = { x: event.clientX, y: event.clientY, moved: false };
          }}
          onPointerMove={onPointerMove}
          onPointerUp={onPointerUp}
          onKeyDown={onKeyDown}
        />
      </div>
      <Text size="sm" aria-live="polite">
        {told === undefined ? '' : describeNode(rows, told.path, rows[told.row])}
      </Text>
    </Stack>
  );
}
