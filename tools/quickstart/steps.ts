import { join } from 'node:path';

export interface QuickstartPlan {
  readonly items: string;
  readonly behaviours: string;
  readonly out: string;
  readonly embeddings: string | undefined;
  readonly minutes: number;
  readonly threads: number;
  readonly seed: number;
}

/** A command of the trainer, `python -m trainer` left out. */
export interface QuickstartStep {
  readonly title: string;
  readonly words: readonly string[];
}

/** A small model, trained within an hour on two cores; docs/semantic-ids.md has its figures. */
const TRAINING = [
  ...['--layers', '3', '--hidden', '128', '--heads', '4', '--kv-heads', '2', '--head-dim', '32'],
  ...['--intermediate', '384', '--epochs', '26', '--batch-size', '96', '--lr', '2e-3'],
  ...['--dropout', '0.15', '--label-smoothing', '0.1', '--shuffle', '3'],
  ...['--validate-every', '3', '--validate-users', '1000', '--patience', '4'],
];

/** In their order; each goes on where it stopped. */
export function stepsOf(plan: QuickstartPlan): readonly QuickstartStep[] {
  const { items, behaviours, out, embeddings, threads, minutes, seed } = plan;
  const sequences = join(out, 'sequences.jsonl');
  const sids = join(out, 'sids');
  const machine = ['--threads', String(threads), '--seed', String(seed)];
  const source = embeddings === undefined ? [] : ['--embeddings', embeddings];
  return [
    {
      title: '1 of 3: the log of behaviours becomes sequences',
      words: ['sequences', '--behaviours', behaviours, '--items', items, '--out', sequences],
    },
    {
      title: '2 of 3: semantic IDs',
      words: ['sids', '--items', items, ...source, '--out', sids, ...machine],
    },
    {
      title: '3 of 3: a model, and its test against popularity and item-KNN',
      words: [
        ...['train', '--sequences', sequences, '--index', join(sids, 'index.json')],
        ...['--codebooks', sids, '--items', items, '--out', join(out, 'model')],
        ...[...TRAINING, '--minutes', String(minutes), ...machine],
      ],
    },
  ];
}
