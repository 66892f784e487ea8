import { type Measurement, quantile } from '../../result.js';
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
const PEER = /^(BF16|INT8)\/([^/ ]+)( [^/]+)?\/(uniform|Zipf)\/(\d+)$/;

/** What is known of one layer, routing and number of rows. */
interface Layer extends NativeResult {
  readonly type: string;
  readonly routing: string;
  readonly rows: number;
}

/** One result for all of a name: their median. */
export function medians(results: readonly NativeResult[]): NativeResult[] {
  const named = new Map<string, NativeResult[]>();
  for (const result of results) {
    named.set(result.name, [...(named.get(result.name) ?? []), result]);
  }
  return [...named.values()].flatMap((rounds) => {
    const value = quantile(
      rounds.map((round) => round.value),
      0.5,
    );
    return rounds.slice(0, 1).map((result) => ({ ...result, value }));
  });
}

/**
 * The rows of one shape: what `experts_bench` has printed, and what peers have, named
 * TYPE/PEER WAY/ROUTING/ROWS. Every ratio of times is ours over the other's.
 */
export function shapeRows(
  shape: string,
  own: readonly NativeResult[],
  peers: readonly NativeResult[],
): Measurement[] {
  const byName = new Map(own.map(({ name, value }) => [name, value]));
  const layers = own.flatMap(layerOf);
  const rows = [
    ...layers.flatMap((layer) => layerRows(layer, byName)),
    ...layers.flatMap((layer) => peerRows(layer, peers)),
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

/** Against the fastest way of each peer at these rows; the bar is for the fastest of all. */
function peerRows(layer: Layer, peers: readonly NativeResult[]): Measurement[] {
  const { name, value, unit, routing, rows } = layer;
  const fastest = new Map<string, { readonly way: string; readonly value: number }>();
  for (const result of peers) {
    const [, type, peer = '', way = '', ofRouting, ofRows] = PEER.exec(result.name) ?? [];
    const isSame = type === layer.type && ofRouting === routing && Number(ofRows) === rows;
    if (!isSame || (fastest.get(peer)?.value ?? Infinity) <= result.value) continue;
    fastest.set(peer, { way: `${peer}${way}`, value: result.value });
  }
  const others = [...fastest.values()].sort((a, b) => a.value - b.value);
  const bar = rows <= FEW_ROWS_MAX ? PEER_BARS.few : PEER_BARS.many;
  return others.map((other, place) => ({
    name,
    value,
    unit,
    ratio: { value: value / other.value, to: other.way },
    bar: place === 0 ? bar : null,
    bound: 'at-most',
  }));
}
