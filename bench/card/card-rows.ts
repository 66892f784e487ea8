import type { Measurement } from '../result.js';
import type { CardDocument, CardLine } from './card-documents.js';
import {
  PUBLISHED_LINK,
  PUBLISHED_RATE,
  PUBLISHED_RATE_CONTEXT,
  PUBLISHED_SHAPE,
  publishedRecall,
  WANTED_RATE,
  wantedRecallMs,
} from './published.js';

const RECALL = /^recall\/([^/]+)\/context (\d+)\/requests (\d+)\/width \d+$/;
const LINK = 'link/from the host through PyTorch';
const ANSWERED = /^load\/([^/]+)\/context (\d+)\/offered 95 percent\/answered$/;
const PEER_RECALL = /^transformers [^/]+\/([^/]+)\/context (\d+)$/;
const PEER_KERNEL = /^PyTorch\/(.+)$/;
const PRODUCT = /^kernels\/[^/]+\/product [^/]+\/(\d+)x/;
const ATTENTION = /^kernels\/[^/]+\/attention /;
const KIND = /^(kinds\/[^/]+\/context \d+)\/(.+)$/;
const FOUND = /^returning\/[^/]+\/context \d+\/found /;

/** Rows up to which a product is no more than reading its weights, and the bar over that. */
const FEW_ROWS_MAX = 64;
const FEW_ROWS_BAR = 1.3;
/** Rows of which a product is set against cuBLAS, and the bar of its time over ours. */
const MANY_ROWS = 4096;
const MANY_ROWS_BAR = 0.85;
const ATTENTION_BAR = 1.8;
const FOUND_BAR = 1.25;
/** Kinds of recalls by the one that each is set against, with their bars. */
const KINDS: Readonly<Record<string, { readonly over: string; readonly bar: number }>> = {
  'certified 50': { over: 'beam', bar: 1 },
  'beam with an adapter': { over: 'beam', bar: 1.1 },
  '200 items ranked': { over: '200 items', bar: 1.25 },
};

/** Shares of a service under three times its load, as `npm run bench -- overload` has them. */
const SHARES: Readonly<Record<string, number>> = {
  'serve/three times the load: in time over the capacity': 0.95,
  'serve/three times the load: calls not refused that were in time': 0.99,
};

/** The best that the card did in the same run. */
interface Ceilings {
  /** Operations a second of a large product. */
  readonly operations: number;
  /** Bytes a second of a copy, read and written. */
  readonly bandwidth: number;
  /** Bytes a second from the host's memory. */
  readonly link: number;
}

/**
 * Measurements on a card, with their ratio to the floor (the larger of computing and moving at
 * the ceilings of the same run), to published figures and to others on the same card. Ratios to
 * published figures and to others say how many times faster ours is.
 */
export function cardRows(documents: readonly CardDocument[]): Measurement[] {
  const lines = documents.flatMap(({ results }) => results);
  const ceilings = ceilingsOf(lines);
  return documents.flatMap(({ card, results }) =>
    results
      .map((line) => rowOf(line, lines, ceilings))
      .map((row) => ({ ...row, name: `${card}: ${row.name}` })),
  );
}

function ceilingsOf(lines: readonly CardLine[]): Ceilings {
  const best = (prefix: string, unit: string) =>
    Math.max(
      ...lines
        .filter(({ name, unit: own }) => name.startsWith(prefix) && own === unit)
        .map(({ value }) => value),
    );
  return {
    operations: best('peak/', 'operations/s'),
    bandwidth: best('peak/', 'bytes/s'),
    link: best('link/', 'bytes/s'),
  };
}

function rowOf(line: CardLine, lines: readonly CardLine[], ceilings: Ceilings): Measurement {
  const { name, value, unit } = line;
  return (
    publishedRow(line) ??
    peerRow(line, lines) ??
    kindRow(line, lines) ??
    floorRow(line, ceilings) ?? { name, value, unit, bar: SHARES[name] ?? null }
  );
}

/** Over the floor of its work, where it says of one and the ceilings were measured. */
function floorRow(line: CardLine, ceilings: Ceilings): Measurement | undefined {
  const { name, value, unit } = line;
  const floorUs = 1e6 * floorSeconds(line, ceilings);
  if (floorUs === 0) return undefined;
  const ratio = { value: value / floorUs, to: 'floor' };
  return { name, value, unit, ratio, bar: floorBar(name), bound: 'at-most' };
}

function floorBar(name: string): number | null {
  const rows = Number(PRODUCT.exec(name)?.[1] ?? Number.POSITIVE_INFINITY);
  if (rows <= FEW_ROWS_MAX) return FEW_ROWS_BAR;
  if (ATTENTION.test(name)) return ATTENTION_BAR;
  return FOUND.test(name) ? FOUND_BAR : null;
}

/** 0 where the line says of no work, or no ceiling was measured. */
function floorSeconds({ operations, bytes, linkBytes }: CardLine, ceilings: Ceilings): number {
  const taking = (work: number, ceiling: number) => (work > 0 ? work / ceiling : 0);
  const computing = taking(operations, ceilings.operations);
  const moving = taking(bytes, ceilings.bandwidth);
  const seconds = Math.max(computing, moving) + taking(linkBytes, ceilings.link);
  return Number.isFinite(seconds) && seconds > 0 ? seconds : 0;
}

function publishedRow({ name, value, unit }: CardLine): Measurement | undefined {
  const [, shape, context, requests] = RECALL.exec(name) ?? [];
  const recall =
    shape === PUBLISHED_SHAPE ? publishedRecall(Number(context), Number(requests)) : undefined;
  if (recall !== undefined) {
    const ms = value / 1000;
    const ratio = { value: recall.value / ms, to: `published ${recall.value} ms` };
    const wantedMs = wantedRecallMs(Number(context), Number(requests));
    return { name, value: ms, unit: 'ms', ratio, bar: recall.value / (wantedMs ?? recall.value) };
  }
  const [, loaded, loadedContext] = ANSWERED.exec(name) ?? [];
  if (loaded === PUBLISHED_SHAPE && Number(loadedContext) === PUBLISHED_RATE_CONTEXT) {
    const to = `published ${PUBLISHED_RATE.value} requests/s`;
    const ratio = { value: value / PUBLISHED_RATE.value, to };
    return { name, value, unit, ratio, bar: WANTED_RATE / PUBLISHED_RATE.value };
  }
  if (name === LINK) {
    const ratio = { value: value / PUBLISHED_LINK.value, to: 'published 45 GiB/s' };
    return { name, value: value / 2 ** 30, unit: 'GiB/s', ratio, bar: null };
  }
  return undefined;
}

/** A row of PyTorch or transformers, against ours of the same size on the same card. */
function peerRow({ name, value, unit }: CardLine, lines: readonly CardLine[]) {
  const [, kernel] = PEER_KERNEL.exec(name) ?? [];
  const [, shape, context] = PEER_RECALL.exec(name) ?? [];
  const ours =
    kernel === undefined
      ? lines.find((line) => isRecall(line.name, shape, Number(context)))
      : lines.find((line) => line.name === `kernels/${kernel}`);
  if (ours === undefined) return undefined;
  const rows = Number(PRODUCT.exec(ours.name)?.[1]);
  const kernelBar = rows === MANY_ROWS ? MANY_ROWS_BAR : null;
  const ratio = { value: value / ours.value, to: 'Tessera' };
  return { name, value, unit, ratio, bar: kernel === undefined ? 1 : kernelBar };
}

/** One recall alone. */
function isRecall(name: string, shape: string | undefined, context: number): boolean {
  const [, ofShape, ofContext, ofRequests] = RECALL.exec(name) ?? [];
  return (
    ofShape !== undefined &&
    ofShape === shape &&
    Number(ofContext) === context &&
    Number(ofRequests) === 1
  );
}

function kindRow({ name, value, unit }: CardLine, lines: readonly CardLine[]) {
  const [, prefix, kind = ''] = KIND.exec(name) ?? [];
  const reference = KINDS[kind];
  if (reference === undefined) return undefined;
  const { over, bar } = reference;
  const plain = lines.find((line) => line.name === `${prefix}/${over}`);
  if (plain === undefined) return undefined;
  const ratio = { value: value / plain.value, to: over };
  return { name, value, unit, ratio, bar, bound: 'at-most' as const };
}
