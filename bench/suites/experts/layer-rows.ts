import type { Measurement } from '../../result.js';
import type { NativeResult } from '../native-bench.js';

/** Rows up to which a layer's time is that of reading weights. */
const READING_ROWS_MAX = 16;
const READING_BAR = 0.75;
/** Rows whose padding has a bar: a request of the relevance model. */
const PADDING_ROWS = 576;
const PADDING_BAR = 1.15;
const IDLE_BAR_PERCENT = 10;
/** Up to these rows a layer takes 0.9 of the fastest peer's time at most, then all of it. */
const FEW_ROWS_MAX = 64;
const PEER_BARS = { few: 0.9, many: 1 };
const LAYER = /^experts\/(BF16|INT8)\/(uniform|Zipf)\/(\d+)\/\d+t$/;
const PEER = /^([^/]+)\/(uniform|Zipf)\/(\d+)$/;

/** What is known of one layer, routing and number of rows. */
interface Layer extends NativeResult {
  readonly type: string;
  readonly routing: string;
  readonly rows: number;
}

/**
 * The rows of one shape: what `experts_bench` has printed, and what the peer has, without results
 * where it is absent. Every ratio of times is ours over the other's.
 */
export function expertsRows(
  shape: string,
  own: readonly NativeResult[],
  peer: readonly NativeResult[],
): Measurement[] {
  const byName = new Map(own.map(({ name, value }) => [name, value]));
  const layers = own.flatMap(layerOf);
  const rows = [
    ...layers.flatMap((layer) => layerRows(layer, byName)),
    ...layers.filter(({ type }) => type === 'BF16').flatMap((layer) => peerRows(layer, peer)),
  ];
  return rows.map((row) => ({ ...row, name: `${shape}: ${row.name}` }));
}

function layerOf(result: NativeResult): Layer[] {
  const match = LAYER.exec(result.name);
  if (match === null) return [];
  const [, type = '', routing = '', rows] = match;
  return [{ ...result, type, routing, rows: Number(rows) }];
}

function layerRows(layer: Layer, byName: ReadonlyMap<string, number>): Measurement[] {
  const { name, value, unit, routing, rows } = layer;
  const of = (what: string) => byName.get(`${name}/${what}`) ?? Number.NaN;
  const isReading = rows <= READING_ROWS_MAX;
  const floor = isReading
    ? { value: of('of_reading'), to: 'reading the chosen weights' }
    : { value: of('of_computing'), to: 'computing' };
  const dense = byName.get(name.replace(`/${routing}/`, '/dense/')) ?? Number.NaN;
  const isLong = rows > FEW_ROWS_MAX;
  return [
    { name, value, unit, ratio: floor, bar: isReading ? READING_BAR : null },
    { name, value, unit, ratio: { value: value / dense, to: 'dense, as active' }, bar: null },
    {
      name: `${name}, places over rows`,
      value: of('padding'),
      unit: 'ratio',
      bar: rows === PADDING_ROWS ? PADDING_BAR : null,
      bound: 'at-most',
    },
    {
      name: `${name}, threads idle`,
      value: 100 * of('idle'),
      unit: '%',
      bar: routing === 'Zipf' && isLong ? IDLE_BAR_PERCENT : null,
      bound: 'at-most',
    },
  ];
}

/** Against the fastest way of the peer at these rows. */
function peerRows(
  { name, value, unit, routing, rows }: Layer,
  peer: readonly NativeResult[],
): Measurement[] {
  const others = peer.flatMap((result) => {
    const [, way, ofRouting, ofRows] = PEER.exec(result.name) ?? [];
    if (ofRouting !== routing || Number(ofRows) !== rows) return [];
    return [{ way, value: result.value }];
  });
  const [best] = others.sort((a, b) => a.value - b.value);
  if (best === undefined) return [];
  return [
    {
      name,
      value,
      unit,
      ratio: { value: value / best.value, to: `transformers ${best.way}` },
      bar: rows <= FEW_ROWS_MAX ? PEER_BARS.few : PEER_BARS.many,
      bound: 'at-most',
    },
  ];
}
