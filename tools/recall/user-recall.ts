import { loadConfig } from '@tessera/config';
import type { EnginePass, Formula } from '@tessera/engine';
import {
  createRecallRuntime,
  type RecallAnswer,
  type RecallRequest,
  type RecallTimings,
} from '@tessera/recall';
import { RankingVersions } from '../served/ranking-version.js';
import { type Flags, fail, print } from '../terminal/command.js';
import { runtimeOptions } from '../terminal/model-flags.js';
import { ProgressLine } from '../terminal/progress.js';
import { readSearch } from '../terminal/search-flags.js';
import { table } from '../terminal/table.js';
import { readExplore, readValuation } from '../terminal/value-flags.js';
import { formulaAsked, itemTable, number, withBid } from './item-table.js';
import { checkRankFlags, readRank } from './ranking-flags.js';
import { describeReport, type SearchReport, searchReport, writeReports } from './search-report.js';

const COUNT_MAX = 65_536;
const WIDTH_MAX = 4096;
const DEADLINE_MS_MAX = 3_600_000;
const DEFAULT_DEADLINE_MS = 60_000;

/** One recall as the service does it, in this process: a table with titles and the timings. */
export async function userRecall(flags: Flags): Promise<void> {
  checkRankFlags(flags);
  const asked = readRequest(flags);
  const budgetUs = 1000 * (flags.integer('deadline-ms', 1, DEADLINE_MS_MAX) ?? DEFAULT_DEADLINE_MS);
  const progress = new ProgressLine();
  const passes: EnginePass[] = [];
  const options = {
    ...runtimeOptions(flags, progress.update),
    onPasses: (made: readonly EnginePass[]) => passes.push(...made),
  };
  const formula = await formulaAsked(asked, options.changes.valuationsPath ?? '');
  const request = withBid(asked, formula);
  const versions = flags.has('rank') ? await RankingVersions.of(flags.text('rank')) : undefined;
  const [runtime, version] = (await versions?.open(options)) ?? [
    await createRecallRuntime(options),
  ];
  progress.end();
  try {
    const { signal } = new AbortController();
    const ranked = version && { ...version.own, rank: readRank(flags, version.rank.adapter) };
    const answer = await runtime.serving.recall({ ...request, ...ranked }, { signal, budgetUs });
    const report = searchReport(answer, passes);
    await print(
      flags.has('json') ? JSON.stringify(answer, null, 2) : describe(answer, formula, report),
    );
    await writeReports(flags.text('report'), [report]);
    if (flags.has('passes')) await print(`\n${passTable(passes)}`);
  } finally {
    await runtime.close();
    await versions?.remove();
  }
}

function readRequest(flags: Flags): RecallRequest {
  const history = flags.text('history');
  const userId = flags.text('user');
  if ((history === undefined) === (userId === undefined)) {
    fail('history', 'exactly one of --history and --user', 'none or both');
  }
  const { search, rowBudget } = readSearch(flags, loadConfig().config.recall.search);
  return {
    requestId: '',
    search,
    ...(rowBudget === undefined ? {} : { rowBudget }),
    ...(history === undefined ? {} : { history: history.split(',').map((id) => id.trim()) }),
    ...(userId === undefined ? {} : { userId }),
    profile: flags.pairs('profile'),
    scene: flags.pairs('scene'),
    resultCount: flags.integer('results', 1, COUNT_MAX) ?? 0,
    widths: flags.integers('widths', 1, WIDTH_MAX) ?? [],
    itemsPerSid: flags.integer('items-per-sid', 1, COUNT_MAX) ?? 0,
    ...(flags.has('score')
      ? { scoreNorm: flags.oneOf('score', ['full', 'level', 'allowed'], 'full') }
      : {}),
    skipUnknownItems: flags.has('skip-unknown'),
    ...readValuation(flags),
    ...readExplore(flags, COUNT_MAX),
  };
}

function appliedLines({ valuation, exploration }: RecallAnswer): string[] {
  const lines: string[] = [];
  if (valuation !== undefined) {
    const { name, scoreWeight, weights, bestLeftOut, noPrices } = valuation;
    const terms = Object.entries(weights).map(([term, weight]) => ` + ${weight} x ${term}`);
    const without = noPrices === '' ? '' : `; no critical bids: ${noPrices}`;
    const left = `best left out ${number(bestLeftOut)}${without}`;
    lines.push(`value: ${name} = ${scoreWeight} x score${terms.join('')}; ${left}`);
  }
  if (exploration !== undefined) {
    const { slots, temperature, seed, noPropensities } = exploration;
    const without = noPropensities === '' ? '' : `; no propensities: ${noPropensities}`;
    lines.push(`drawn: ${slots} places, temperature ${temperature}, --seed ${seed}${without}`);
  }
  return lines;
}

function describe(
  answer: RecallAnswer,
  formula: Formula | undefined,
  report: SearchReport,
): string {
  const list = itemTable(answer, formula);
  const { historyItems, trimmedItems, skippedItems, promptTokens, widthsUsed } = answer;
  const prompt =
    `prompt: ${promptTokens} tokens, ${historyItems} items ` +
    `(${trimmedItems} trimmed, ${skippedItems} unknown); widths ${widthsUsed.join(', ')}`;
  const short = answer.short ? '\nfewer items exist on the paths found than were asked for' : '';
  const search = `search: ${answer.search}, ${describeReport(report)}`;
  const below = [prompt, search, ...appliedLines(answer), timingLine(answer.timings)];
  return `${list}${short}\n\n${below.join('\n')}`;
}

/** Milliseconds of each forward pass, part by part. */
function passTable(passes: readonly EnginePass[]): string {
  const times = (pass: EnginePass) => [
    pass.planUs,
    pass.projectionsUs,
    pass.attentionUs,
    pass.forwardUs - pass.projectionsUs - pass.attentionUs,
    pass.headUs,
    pass.selectUs,
    pass.forkUs,
  ];
  const columns = ['plan', 'projections', 'attention', 'rest', 'head', 'select', 'fork'];
  return table(
    ['pass', 'kind', 'rows', ...columns].map((name) => ({ name, right: name !== 'kind' })),
    passes.map((pass, index) => [
      String(index + 1),
      pass.kind,
      String(pass.rows),
      ...times(pass).map((us) => (us / 1000).toFixed(3)),
    ]),
  );
}

function timingLine(timings: RecallTimings): string {
  const stages = Object.entries(timings).map(
    ([name, us]) => `${name.replace(/Us$/, '')} ${(us / 1000).toFixed(2)}`,
  );
  return `ms: ${stages.join(', ')}`;
}
