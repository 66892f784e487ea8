import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { CONFIG_KEYS, loadConfig } from '@tessera/config';
import { temporaryFolder } from '@tessera/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { servedBy, stepsOf } from './steps.js';

const folder = temporaryFolder({});
afterAll(() => folder.remove());

const PLAN = {
  items: 'ads.tsv',
  behaviours: 'clicks.tsv',
  out: 'made',
  embeddings: undefined,
  encoder: undefined,
  columns: undefined,
  device: 'cpu',
  minutes: 7,
  maxItems: undefined,
  threads: 3,
  seed: 5,
};
/** Flags of the trainer's commands, as argparse gets them. */
const FLAGS = readFileSync('trainer/__main__.py', 'utf8');

/** Its usage. */
const EMBED = `${readFileSync('tools/embed.ts', 'utf8')}`.replaceAll(' --texts', '  --texts');

describe('the steps of a quickstart', () => {
  it('hand files on from one to the next', () => {
    const [sequences, sids, train] = stepsOf(PLAN).map(({ words }) => words.join(' '));
    expect(sequences).toContain('sequences --behaviours clicks.tsv --items ads.tsv');
    expect(sequences).toContain('--out made/sequences.jsonl');
    expect(sids).toBe('sids --items ads.tsv --out made/sids --threads 3 --seed 5');
    expect(train).toContain('train --sequences made/sequences.jsonl --index made/sids/index.json');
    expect(train).toContain('--codebooks made/sids --items ads.tsv --out made/model');
    expect(train).toContain('--minutes 7 --threads 3 --seed 5 --device cpu');
  });

  it('take more texts than titles, and a card', () => {
    const given = { ...PLAN, columns: ['title', 'brand'], device: 'cuda' };
    const [, sids, train] = stepsOf(given).map(({ words }) => words.join(' '));
    expect(sids).toContain('--columns title brand --out');
    expect(train).toContain('--device cuda');
    const [, texts] = stepsOf({ ...given, encoder: 'minilm' });
    expect(texts?.words.join(' ')).toContain('--columns title brand');
  });

  it('take vectors in place of titles', () => {
    const [, sids] = stepsOf({ ...PLAN, embeddings: 'v.npy' });
    expect(sids?.words).toContain('--embeddings');
  });

  it('are served with the users of their clicks, and with stores of their own', () => {
    const tree = servedBy(PLAN, true);
    expect(tree.recall).toBeUndefined();
    expect(tree.model).toEqual({ path: resolve('made/model') });
    expect(tree.users).toEqual({ path: resolve('made/sequences.jsonl') });
    const file = join(folder.path, 'service.json');
    writeFileSync(file, JSON.stringify(tree));
    const { config } = loadConfig({ environment: {}, file });
    for (const { path } of CONFIG_KEYS.filter(({ storeName }) => storeName !== undefined)) {
      const [area = '', name = ''] = path.split('.');
      const place = (config as never as Record<string, Record<string, string>>)[area]?.[name];
      expect(place, path).toMatch(new RegExp(`^${resolve('made/data')}/`));
    }
  });

  it('leave out of recalls what users had, where they take nothing twice', () => {
    const file = join(folder.path, 'capped.json');
    writeFileSync(file, JSON.stringify(servedBy(PLAN, false)));
    const { config } = loadConfig({ environment: {}, file });
    expect(config.recall.frequencyCaps).toBe('*=1,36500d');
  });

  it('show as many behaviours as is asked', () => {
    const train = stepsOf(Object.assign({}, PLAN, { maxItems: 65 })).at(-1);
    expect(train?.words.slice(-2)).toEqual(['--max-items', '65']);
  });

  it('make vectors by an encoder, which serves new ads too', () => {
    const plan = Object.assign({}, PLAN, { encoder: 'models/minilm' });
    const [, texts, embed, sids] = stepsOf(plan);
    expect(texts?.words.join(' ')).toBe('texts --items ads.tsv --out made/texts.json');
    expect(embed?.program).toBe('embed');
    const files = '--model models/minilm --texts made/texts.json --out made/vectors.npy';
    expect(embed?.words.join(' ')).toBe(`${files} --threads 3`);
    expect(sids?.words.join(' ')).toContain(
      '--embeddings made/vectors.npy --encoder made/vectors.json --out made/sids',
    );
    expect(servedBy(plan, true).embedding).toEqual({
      models: `ads=${resolve('models/minilm')}`,
      computeType: 'f32',
    });
  });

  it.each([{ embeddings: 'v.npy' }, { encoder: 'models/minilm' }])(
    'use flags that their commands have: %j',
    (source) => {
      for (const { program, words } of stepsOf(Object.assign({}, PLAN, source))) {
        const asked = words.filter((word) => word.startsWith('--'));
        const known = (flag: string) =>
          program === 'embed'
            ? EMBED.includes(`  ${flag} `) || EMBED.includes(`-- ${flag} `)
            : FLAGS.includes(`"${flag}"`) ||
              FLAGS.includes(`"${flag.slice(2).replaceAll('-', '_')}"`);
        expect(asked.filter((flag) => !known(flag))).toEqual([]);
      }
    },
  );
});
