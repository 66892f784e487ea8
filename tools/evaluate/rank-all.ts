import { writeFile } from 'node:fs/promises';
import { ServiceClient } from '@tessera/client';
import { TesseraError, visible } from '@tessera/errors';
import { type RankingVersion, RankingVersions } from '../served/ranking-version.js';
import { startStack } from '../served/served-stack.js';
import { type FlagKind, type Flags, fail, print } from '../terminal/command.js';
import { runtimeOptions } from '../terminal/model-flags.js';
import { ProgressLine } from '../terminal/progress.js';
import { table } from '../terminal/table.js';
import { DEADLINE_MS } from './ask-all.js';
import { type Exposure, type Exposures, readExposures } from './exposures.js';
import { type HeadFigures, headFigures } from './head-figures.js';

export const EXPOSURE_FLAGS: Readonly<Record<string, FlagKind>> = {
  rank: 'text',
  histories: 'text',
  version: 'text',
};

const FAILURES_SHOWN = 5;
/** The numbers of an exposure by head. */
type Predictions = Map<Exposure, Readonly<Record<string, number>>>;

/** Ranks every impression through the served engine, and prints the figures of each head. */
export async function evaluateRanking(flags: Flags, concurrency: number): Promise<void> {
  const options = runtimeOptions(flags, new ProgressLine().update);
  const exposures = await readExposures(flags.required('rank'), flags.required('histories'));
  const versions = await RankingVersions.of(flags.text('version'));
  try {
    const served = { ...options, behaviours: exposures.store };
    const [runtime, version] = await versions.open(served);
    const stack = await startStack(served, DEADLINE_MS, undefined, runtime);
    try {
      const predictions = await rankAll(stack.grpcAddress, exposures, version, concurrency);
      const result = { rows: exposures.all.length, heads: figuresOf(exposures, predictions) };
      await print(describeFigures(result.heads));
      const path = flags.text('json');
      if (path !== undefined) await writeFile(path, `${JSON.stringify(result, null, 2)}\n`);
    } finally {
      await stack.close();
    }
  } finally {
    await versions.remove();
  }
}

async function rankAll(
  address: string,
  { heads, impressions }: Exposures,
  { rank, own }: RankingVersion,
  concurrency: number,
): Promise<Predictions> {
  const client = new ServiceClient('tessera.ranking.v1.RankingService', address);
  const progress = new ProgressLine();
  const predictions: Predictions = new Map();
  const failures: string[] = [];
  let [next, done] = [0, 0];
  const ask = async ({ userId, exposures }: (typeof impressions)[number]) => {
    const itemIds = [...new Set(exposures.map(({ item }) => item))];
    const deadline = Date.now() + DEADLINE_MS;
    const asked = { userId, itemIds, rank, ...own };
    const { items, ranking } = await client.call('Rank', asked, { deadline });
    const stranger = heads.find((name) => !ranking?.heads.includes(name));
    if (stranger !== undefined) {
      fail('rank', `columns of heads (${ranking?.heads.join(', ')})`, `'${stranger}'`);
    }
    const said = new Map(items.map((item) => [item.itemId, item.ranking?.heads]));
    for (const exposure of exposures) {
      const numbers = said.get(exposure.item);
      if (numbers) predictions.set(exposure, numbers);
    }
  };
  const work = async () => {
    for (let at = next++; at < impressions.length; at = next++) {
      const impression = impressions[at] as (typeof impressions)[number];
      await ask(impression).catch((thrown: unknown) => {
        if (!(thrown instanceof Error) || !('code' in thrown)) throw thrown;
        failures.push(`user '${impression.userId}': ${thrown.message}`);
      });
      done += 1;
      progress.update('impressions', done, impressions.length, '');
    }
  };
  try {
    await Promise.all(Array.from({ length: concurrency }, work));
  } finally {
    progress.end();
    client.close();
  }
  for (const line of failures.slice(0, FAILURES_SHOWN)) process.stderr.write(visible(`${line}\n`));
  if (predictions.size > 0) return predictions;
  const message = `exposures: expected one at least that is ranked, got none: ${failures[0] ?? ''}`;
  throw new TesseraError('ENGINE_UNAVAILABLE', message, { field: 'exposures' });
}

function figuresOf(
  { heads, all }: Exposures,
  predictions: Predictions,
): Readonly<Record<string, HeadFigures>> {
  const figures = heads.map((name): [string, HeadFigures] => {
    const rows = all.flatMap((exposure) => {
      const label = exposure.labels.get(name) ?? Number.NaN;
      const prediction = predictions.get(exposure)?.[name];
      if (Number.isNaN(label) || prediction === undefined) return [];
      return { user: exposure.user, label, prediction };
    });
    return [name, headFigures(rows, all.length - rows.length)];
  });
  return Object.fromEntries(figures);
}

function describeFigures(heads: Readonly<Record<string, HeadFigures>>): string {
  const columns: readonly [string, (of: HeadFigures) => number | null][] = [
    ['AUC', (of) => of.auc],
    ['per-user AUC', (of) => of.userAuc],
    ['log loss', (of) => of.logLoss],
    ['calibration', (of) => of.calibrationError],
    ['RMSE', (of) => of.rmse],
  ];
  const names = ['head', 'rows', 'skipped', ...columns.map(([name]) => name)];
  const lines = Object.entries(heads).map(([name, of]) => [
    name,
    String(of.rows),
    String(of.skipped),
    ...columns.map(([, read]) => read(of)?.toFixed(6) ?? '-'),
  ]);
  return table(
    names.map((name) => ({ name, right: name !== 'head' })),
    lines,
  );
}
