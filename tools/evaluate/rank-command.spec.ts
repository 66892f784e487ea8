import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { RankAnswer } from '@tessera/recall';
import { drawnHeads, temporaryFolder } from '@tessera/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { headFigures } from './head-figures.js';

const run = promisify(execFile);
const USERS = ['1', '2', '3'];
const ITEMS = ['1', '2', '3', '4', '5'];
/** After all that the demo's users have done: they are as the service knows them. */
const TIME = 4_000_000_000;
const HIDDEN = 128;
const SEED = 9;

const click = { name: 'click', activation: 'sigmoid' };
const liked = (user: string, item: string) => (Number(user) + Number(item)) % 2;
const exposures = USERS.flatMap((user) =>
  ITEMS.map((item) => [user, TIME, item, liked(user, item)].join('\t')),
);
const others = [`1\t${TIME}\tnosuch\t1`, `1\t${TIME}\t6\t`, '1\t1\t2\t1'];
const header = 'user\ttime\titem\tclick';
const folder = temporaryFolder({
  'version/ranking.json': { version: 1, name: 'drawn', item: '{sid}', heads: [click] },
  'version/heads.safetensors': drawnHeads(['click'], HIDDEN, SEED),
  'exposures.tsv': [header, ...exposures, ...others, ''].join('\n'),
  'strange.tsv': [header.replace('click', 'buy'), ...exposures, ''].join('\n'),
});
afterAll(() => folder.remove());
const at = (name: string) => join(folder.path, name);
const VERSION = ['--version', at('version'), '--threads', '1', '--dtype', 'f32'];

/** Numbers of the items by `npm run rank`. */
async function predictionsOf(user: string): Promise<ReadonlyMap<string, number | undefined>> {
  const words = ['--user', user, '--items', ITEMS.join(), '--json', ...VERSION];
  const { stdout } = await run('node', ['dist/tools/rank.js', ...words]);
  const { items } = JSON.parse(stdout) as RankAnswer;
  return new Map(items.map(({ itemId, ranking }) => [itemId, ranking?.heads.click]));
}

const evaluate = (table: string) =>
  run('node', [
    'dist/tools/evaluate.js',
    ...['--rank', at(table), '--histories', 'models/demo/users.json'],
    ...['--json', at('figures.json'), ...VERSION],
  ]);

describe('npm run evaluate -- --rank', () => {
  it('has the figures of what npm run rank says, without what cannot be ranked', async () => {
    const { stdout } = await evaluate('exposures.tsv');
    expect(stdout).toMatch(/^head .*AUC/);
    const said = await Promise.all(USERS.map(predictionsOf));
    const rows = USERS.flatMap((user, place) =>
      ITEMS.map((item) => {
        const prediction = said[place]?.get(item) ?? Number.NaN;
        return { user, label: liked(user, item), prediction };
      }),
    );
    const figures = JSON.parse(readFileSync(at('figures.json'), 'utf8'));
    const skipped = others.length;
    const expected = { rows: rows.length + skipped, heads: { click: headFigures(rows, skipped) } };
    expect(figures).toEqual(expected);
  });

  it('refuses a column that is no head of the version', async () => {
    const refused = await evaluate('strange.tsv').catch(
      (error: { code: number; stderr: string }) => error,
    );
    expect(refused).toMatchObject({ code: 2 });
    expect(refused.stderr).toContain("--rank: expected columns of heads (click), got 'buy'");
  });
});
