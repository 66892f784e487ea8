import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { stepsOf } from './steps.js';

const PLAN = {
  items: 'ads.tsv',
  behaviours: 'clicks.tsv',
  out: 'made',
  embeddings: undefined,
  minutes: 7,
  threads: 3,
  seed: 5,
};
/** Flags of the trainer's commands, as argparse gets them. */
const FLAGS = readFileSync('trainer/__main__.py', 'utf8');

describe('the steps of a quickstart', () => {
  it('hand files on from one to the next', () => {
    const [sequences, sids, train] = stepsOf(PLAN).map(({ words }) => words.join(' '));
    expect(sequences).toContain('sequences --behaviours clicks.tsv --items ads.tsv');
    expect(sequences).toContain('--out made/sequences.jsonl');
    expect(sids).toBe('sids --items ads.tsv --out made/sids --threads 3 --seed 5');
    expect(train).toContain('train --sequences made/sequences.jsonl --index made/sids/index.json');
    expect(train).toContain('--codebooks made/sids --items ads.tsv --out made/model');
    expect(train).toContain('--minutes 7 --threads 3 --seed 5');
  });

  it('take vectors in place of titles', () => {
    const [, sids] = stepsOf({ ...PLAN, embeddings: 'v.npy' });
    expect(sids?.words).toContain('--embeddings');
  });

  it('use flags that the trainer has', () => {
    const asked = stepsOf({ ...PLAN, embeddings: 'v.npy' }).flatMap(({ words }) =>
      words.filter((word) => word.startsWith('--')),
    );
    const known = (flag: string) =>
      FLAGS.includes(`"${flag}"`) || FLAGS.includes(`"${flag.slice(2).replaceAll('-', '_')}"`);
    expect(asked.filter((flag) => !known(flag))).toEqual([]);
  });
});
