import { join } from 'node:path';
import {
  PUBLISHED_RATE,
  PUBLISHED_RATE_CONTEXT,
  PUBLISHED_SHAPE,
  type Published,
  publishedRecall,
  RECALL_CASES,
} from './published.js';

export const CARD_SHAPES = ['qwen3-1.7b', 'qwen3-0.6b'] as const;
export type CardShape = (typeof CARD_SHAPES)[number];

/** Codes of a level and levels of a SID in the catalogues of native/bench/card. */
export const CODES = 8192;
export const LEVELS = 3;
/** Items of the catalogue that recalls search. */
const ITEMS = 1_000_000;
export const WIDTH = 256;
export const CONTEXTS = [1000, 5000];

/** Products of few rows read weights; those of many compute. */
const FEW_ROWS = [1, 16, 64];
const MANY_ROWS = [256, 1024, 4096];
const ROWS = [...FEW_ROWS, ...MANY_ROWS].join();
const ROUNDS = '15';
const REQUESTS = '200';
const PEER_ROUNDS = '3';

/** Run by `card_bench`, or by Python with PyTorch. */
export type Program = 'card_bench' | 'python';

/** One program's run, whose standard output is a document of results. */
export interface Task {
  readonly name: string;
  readonly program: Program;
  readonly words: readonly string[];
  readonly measures: readonly Planned[];
}

/** The statement of a run, in words, and its reference. */
export interface Planned {
  readonly what: string;
  readonly published?: Published;
}

/**
 * Measurements of all programs beside Node, in their order.
 * @param cache folder of models and catalogues
 */
export function planOf(cache: string): Task[] {
  const ours = (task: Omit<Task, 'program'>): Task => ({
    ...task,
    program: 'card_bench',
    words: [...task.words, '--rounds', ROUNDS, '--cache', cache],
  });
  return [
    {
      name: 'ceilings',
      program: 'python',
      words: [peer('card_ceilings.py'), 'cuda', '8192', '2048', ROUNDS],
      measures: [
        { what: 'through PyTorch: a product of 8192 x 8192 x 8192 in BF16, a copy of 2 GiB' },
        { what: "through PyTorch: 2 GiB from the host's memory" },
      ],
    },
    ...CARD_SHAPES.map((shape) => ours(kernelsTask(shape))),
    ...CARD_SHAPES.map(peerKernelsTask),
    ...CARD_SHAPES.map((shape) => ours(recallTask(shape))),
    ...CARD_SHAPES.map((shape) => ours(loadTask(shape))),
    ...CARD_SHAPES.flatMap((shape) => transformersTasks(shape, cache)),
  ];
}

function kernelsTask(shape: CardShape): Omit<Task, 'program'> {
  return {
    name: `kernels-${shape}`,
    words: [
      ...['kernels', '--shape', shape, '--contexts', CONTEXTS.join(), '--rows', ROWS],
      ...['--width', String(WIDTH)],
    ],
    measures: [
      { what: `${shape}: products of a layer with ${ROWS} rows` },
      { what: `${shape}: attention of a prompt of ${CONTEXTS} and of ${WIDTH} beams` },
      { what: `${shape}: norms with ${ROWS} rows; head of ${WIDTH} rows` },
    ],
  };
}

/** Layers and heads of native/bench/card/shapes.cc: hidden, heads, their keys', inner. */
const SIZES: Readonly<Record<CardShape, readonly number[]>> = {
  'qwen3-1.7b': [2048, 16, 8, 6144],
  'qwen3-0.6b': [1024, 16, 8, 3072],
};

function peerKernelsTask(shape: CardShape): Task {
  return {
    name: `peer-kernels-${shape}`,
    program: 'python',
    words: [
      ...[peer('card_kernels_peer.py'), 'cuda', shape, SIZES[shape].join(), ROWS],
      ...[CONTEXTS.join(), String(WIDTH), ROUNDS],
    ],
    measures: [
      { what: `${shape}: the same products by cuBLAS through PyTorch` },
      { what: `${shape}: attention of a prompt of ${CONTEXTS} by PyTorch` },
    ],
  };
}

function recallTask(shape: CardShape): Omit<Task, 'program'> {
  return {
    name: `recall-${shape}`,
    words: [
      ...['recall', '--shape', shape, '--cases', RECALL_CASES.join(), '--width', String(WIDTH)],
      ...['--items', String(ITEMS)],
    ],
    measures: RECALL_CASES.map((one) => {
      const [context = 0, requests = 0] = one.split('x').map(Number);
      const published = shape === PUBLISHED_SHAPE ? publishedRecall(context, requests) : undefined;
      const what = `${shape}: ${requests} recalls of a context of ${context}, beam ${WIDTH}`;
      return { what, ...(published === undefined ? {} : { published }) };
    }),
  };
}

function loadTask(shape: CardShape): Omit<Task, 'program'> {
  return {
    name: `load-${shape}`,
    words: [
      ...['load', '--shape', shape, '--contexts', CONTEXTS.join(), '--width', String(WIDTH)],
      ...['--items', String(ITEMS), '--requests', REQUESTS],
    ],
    measures: CONTEXTS.map((context) => ({
      what: `${shape}, context ${context}: latency with 50, 80 and 95 % of the rate offered`,
      ...(shape === PUBLISHED_SHAPE && context === PUBLISHED_RATE_CONTEXT
        ? { published: PUBLISHED_RATE }
        : {}),
    })),
  };
}

function transformersTasks(shape: CardShape, cache: string): Task[] {
  return ['loop', 'generate'].map((way) => ({
    name: `transformers-${way}-${shape}`,
    program: 'python',
    words: [
      ...[peer('card_recall_peer.py'), modelFolder(cache, shape), sidsPath(cache)],
      ...[String(LEVELS), String(CODES), 'cuda', way],
      ...[CONTEXTS.join(), String(WIDTH), PEER_ROUNDS],
    ],
    measures: CONTEXTS.map((context) => ({
      what: `transformers ${way}, ${shape}: a recall of a context of ${context}, beam ${WIDTH}`,
    })),
  }));
}

function peer(name: string): string {
  return join('bench', 'peers', name);
}

/** As native/bench/card/shapes.cc names what it has drawn. */
export const modelFolder = (cache: string, shape: CardShape): string =>
  join(cache, `card-${shape}-1`);
const catalogueFolder = (cache: string) => join(cache, `card-catalogue-${ITEMS}-${CODES}-1`);
export const sidsPath = (cache: string): string => join(catalogueFolder(cache), 'sids.u16');
export const snapshotPath = (cache: string): string =>
  join(catalogueFolder(cache), 'catalogue.snapshot');

/** The plan for a reader: a line for each measurement, with what others have published. */
export function planLines(tasks: readonly Task[]): string[] {
  return tasks.flatMap(({ measures }) =>
    measures.map(({ what, published }) => `  ${what}${againstLine(published)}`),
  );
}

function againstLine(published: Published | undefined): string {
  if (published === undefined) return '';
  const { value, unit, setting, source } = published;
  return `; published: ${value} ${unit} (${setting}; ${source})`;
}
