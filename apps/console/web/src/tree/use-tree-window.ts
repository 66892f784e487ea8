import { useElementSize } from '@mantine/hooks';
import {
  type KeyboardEvent,
  type PointerEvent,
  type RefObject,
  useCallback,
  useEffect,
  useRef,
  useState,
} from 'react';
import { HEIGHT, type Place, START, zoomed } from './place.js';

/** Wheels that zoom have this many pixels to a factor of e. */
const PIXELS_PER_FOLD = 300;
/** Square of the movement that makes a click a drag. */
const CLICK_DISTANCE = 4;

/** A window over a picture: how wide it is, where the picture lies, and how it is moved. */
export function useTreeWindow(
  canvas: RefObject<HTMLCanvasElement | null>,
  onClick: (x: number, y: number) => void,
) {
  const { ref: frame, width } = useElementSize();
  const [place, setPlace] = useState<Place>(START);
  const dragged = useRef<{ x: number; y: number; moved: boolean } | undefined>(undefined);
  const zoom = useCallback((factor: number, x: number, y: number) => {
    setPlace((now) => zoomed(now, factor, x, y));
  }, []);

  // React listens to wheels passively: the page would scroll as well.
  useEffect(() => {
    const target = canvas.current;
    const onWheel = (event: WheelEvent) => {
      event.preventDefault();
      if (event.ctrlKey || event.metaKey) {
        zoom(Math.exp(-event.deltaY / PIXELS_PER_FOLD), event.offsetX, event.offsetY);
      } else {
        setPlace((now) => ({ ...now, x: now.x - event.deltaX, y: now.y - event.deltaY }));
      }
    };
    target?.addEventListener('wheel', onWheel, { passive: false });
    return () => target?.removeEventListener('wheel', onWheel);
  }, [canvas, zoom]);

  const pointers = {
    onPointerDown: (event: PointerEvent<HTMLCanvasElement>) => {
      event.currentTarget.setPointerCapture(event.pointerId);
      dragged.current = { x: event.clientX, y: event.clientY, moved: false };
    },
    onPointerMove: (event: PointerEvent) => {
      const from = dragged.current;
      if (from === undefined) return;
      const { clientX: x, clientY: y } = event;
      const [dx, dy] = [x - from.x, y - from.y];
      const moved = from.moved || dx * dx + dy * dy > CLICK_DISTANCE;
      dragged.current = { x, y, moved };
      setPlace((now) => ({ ...now, x: now.x + dx, y: now.y + dy }));
    },
    onPointerUp: (event: PointerEvent) => {
      const wasClick = dragged.current?.moved === false;
      dragged.current = undefined;
      if (wasClick) onClick(event.nativeEvent.offsetX, event.nativeEvent.offsetY);
    },
  };
  /** True if the key was one that zooms. */
  const zoomByKey = ({ key }: KeyboardEvent): boolean => {
    if (key !== '+' && key !== '-') return false;
    zoom(key === '+' ? 1.25 : 0.8, width / 2, HEIGHT / 2);
    return true;
  };
  return { frame, width, place, setPlace, pointers, zoomByKey };
}
