import { join, resolve } from 'node:path';
import { CONFIG_KEYS } from '@tessera/config';

export interface QuickstartPlan {
  readonly items: string;
  readonly behaviours: string;
  readonly out: string;
  readonly embeddings: string | undefined;
  /** Folder of a model of texts. */
  readonly encoder: string | undefined;
  /** Of the items' file, the texts that semantic IDs are made of; undefined: titles. */
  readonly columns: readonly string[] | undefined;
  /** That the model is trained on, as PyTorch names it. */
  readonly device: string;
  readonly minutes: number;
  /** Behaviours that a prompt shows; undefined: the users' median. */
  readonly maxItems: number | undefined;
  readonly threads: number;
  readonly seed: number;
}

/** A command of the trainer (`python -m trainer` left out), or of `npm run -s embed --`. */
export interface QuickstartStep {
  readonly title: string;
  readonly program: 'trainer' | 'embed';
  readonly words: readonly string[];
}

/**
 * A small model, trained within an hour on two cores; docs/concepts/semantic-ids.md has its
 * figures.
 */
const TRAINING = [
  ...['--layers', '3', '--hidden', '128', '--heads', '4', '--kv-heads', '2', '--head-dim', '32'],
  ...['--intermediate', '384', '--epochs', '26', '--batch-size', '96', '--lr', '2e-3'],
  ...['--dropout', '0.15', '--label-smoothing', '0.1', '--shuffle', '3'],
  ...['--validate-every', '3', '--validate-users', '1000', '--patience', '4'],
];
/** Output of `trainer sequences`: the users of the service as well. */
const SEQUENCES = 'sequences.jsonl';
/** The name that requests and metrics know the encoder by. */
const ENCODER_NAME = 'ads';

/** In their order; each goes on where it stopped. */
export function stepsOf(plan: QuickstartPlan): readonly QuickstartStep[] {
  const { items, behaviours, out, threads, minutes, maxItems, seed } = plan;
  const sequences = join(out, SEQUENCES);
  const sids = join(out, 'sids');
  const machine = ['--threads', String(threads), '--seed', String(seed)];
  return [
    {
      title: 'The log of behaviours becomes sequences',
      program: 'trainer',
      words: ['sequences', '--behaviours', behaviours, '--items', items, '--out', sequences],
    },
    ...encoderSteps(plan),
    {
      title: 'Semantic IDs',
      program: 'trainer',
      words: ['sids', '--items', items, ...textsOf(plan), '--out', sids, ...machine],
    },
    {
      title: 'A model, and its test against popularity and item-KNN',
      program: 'trainer',
      words: [
        ...['train', '--sequences', sequences, '--index', join(sids, 'index.json')],
        ...['--codebooks', sids, '--items', items, '--out', join(out, 'model')],
        ...[...TRAINING, '--minutes', String(minutes), ...machine, '--device', plan.device],
        ...(maxItems === undefined ? [] : ['--max-items', String(maxItems)]),
      ],
    },
  ];
}

/** Files that the encoder's vectors are in, and those that they are made of. */
const filesOf = (out: string) => ({
  texts: join(out, 'texts.json'),
  vectors: join(out, 'vectors.npy'),
  encoder: join(out, 'vectors.json'),
});

const columnWords = (columns: QuickstartPlan['columns']) =>
  columns === undefined ? [] : ['--columns', ...columns];

function encoderSteps(plan: QuickstartPlan): QuickstartStep[] {
  const { items, out, encoder, columns, threads } = plan;
  if (encoder === undefined) return [];
  const { texts, vectors } = filesOf(out);
  const threadWords = ['--threads', String(threads)];
  return [
    {
      title: "The items' texts",
      program: 'trainer',
      words: ['texts', '--items', items, '--out', texts, ...columnWords(columns)],
    },
    {
      title: 'Their vectors, by the engine that the service has',
      program: 'embed',
      words: ['--model', encoder, '--texts', texts, '--out', vectors, ...threadWords],
    },
  ];
}

/** Flags of `trainer sids`; none: it makes vectors of titles itself. */
function textsOf({ out, embeddings, encoder, columns }: QuickstartPlan): readonly string[] {
  if (encoder !== undefined) {
    const files = filesOf(out);
    return ['--embeddings', files.vectors, '--encoder', files.encoder];
  }
  return embeddings === undefined ? columnWords(columns) : ['--embeddings', embeddings];
}

/** A configuration: areas of keys. */
export type ServiceFile = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Leaves out of a user's recalls all that they have had. */
const NOTHING_TWICE = '*=1,36500d';

/**
 * The configuration that serves what was made, for `--config`: its users are those of the clicks,
 * and all its stores lie beside it, apart from those of other models.
 * @param showsAgain users of the log take things twice
 */
export function servedBy({ out, encoder }: QuickstartPlan, showsAgain: boolean): ServiceFile {
  const tree: Record<string, Record<string, string>> = {};
  const set = (path: string, value: string) => {
    const [area = '', name = ''] = path.split('.');
    tree[area] = Object.assign(tree[area] ?? {}, { [name]: value });
  };
  set('model.path', resolve(out, 'model'));
  set('users.path', resolve(out, SEQUENCES));
  if (!showsAgain) set('recall.frequencyCaps', NOTHING_TWICE);
  for (const { path, storeName } of CONFIG_KEYS) {
    if (storeName !== undefined) set(path, resolve(out, 'data', storeName));
  }
  if (encoder !== undefined) {
    set('embedding.models', `${ENCODER_NAME}=${resolve(encoder)}`);
    set('embedding.computeType', 'f32');
  }
  return tree;
}
