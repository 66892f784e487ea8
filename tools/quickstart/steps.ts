import { join } from 'node:path';

export interface QuickstartPlan {
  readonly items: string;
  readonly behaviours: string;
  readonly out: string;
  readonly embeddings: string | undefined;
  /** Folder of a model of texts. */
  readonly encoder: string | undefined;
  readonly minutes: number;
  readonly threads: number;
  readonly seed: number;
}

/** A command of the trainer (`python -m trainer` left out), or of `npm run -s embed --`. */
export interface QuickstartStep {
  readonly title: string;
  readonly program: 'trainer' | 'embed';
  readonly words: readonly string[];
}

/** A small model, trained within an hour on two cores; docs/semantic-ids.md has its figures. */
const TRAINING = [
  ...['--layers', '3', '--hidden', '128', '--heads', '4', '--kv-heads', '2', '--head-dim', '32'],
  ...['--intermediate', '384', '--epochs', '26', '--batch-size', '96', '--lr', '2e-3'],
  ...['--dropout', '0.15', '--label-smoothing', '0.1', '--shuffle', '3'],
  ...['--validate-every', '3', '--validate-users', '1000', '--patience', '4'],
];
/** The name that requests and metrics know the encoder by. */
const ENCODER_NAME = 'ads';

/** In their order; each goes on where it stopped. */
export function stepsOf(plan: QuickstartPlan): readonly QuickstartStep[] {
  const { items, behaviours, out, threads, minutes, seed } = plan;
  const sequences = join(out, 'sequences.jsonl');
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
      words: ['sids', '--items', items, ...vectorsOf(plan), '--out', sids, ...machine],
    },
    {
      title: 'A model, and its test against popularity and item-KNN',
      program: 'trainer',
      words: [
        ...['train', '--sequences', sequences, '--index', join(sids, 'index.json')],
        ...['--codebooks', sids, '--items', items, '--out', join(out, 'model')],
        ...[...TRAINING, '--minutes', String(minutes), ...machine],
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

function encoderSteps({ items, out, encoder, threads }: QuickstartPlan): QuickstartStep[] {
  if (encoder === undefined) return [];
  const { texts, vectors } = filesOf(out);
  const threadWords = ['--threads', String(threads)];
  return [
    {
      title: "The items' texts",
      program: 'trainer',
      words: ['texts', '--items', items, '--out', texts],
    },
    {
      title: 'Their vectors, by the engine that the service has',
      program: 'embed',
      words: ['--model', encoder, '--texts', texts, '--out', vectors, ...threadWords],
    },
  ];
}

/** Flags of `trainer sids`; none: it makes vectors of titles itself. */
function vectorsOf({ out, embeddings, encoder }: QuickstartPlan): readonly string[] {
  if (encoder !== undefined) {
    const files = filesOf(out);
    return ['--embeddings', files.vectors, '--encoder', files.encoder];
  }
  return embeddings === undefined ? [] : ['--embeddings', embeddings];
}

/** The environment that serves what was made: `npm start` reads it. */
export function servedBy({ out, encoder }: QuickstartPlan): Readonly<Record<string, string>> {
  const model = { TESSERA_MODEL_PATH: join(out, 'model') };
  if (encoder === undefined) return model;
  return Object.assign(model, {
    TESSERA_EMBEDDING_MODELS: `${ENCODER_NAME}=${encoder}`,
    TESSERA_EMBEDDING_COMPUTE_TYPE: 'f32',
  });
}
