import { loadConfig } from '@tessera/config';
import type { EnginePass } from '@tessera/engine';
import {
  createRecallRuntime,
  type RecallAnswer,
  type RecallRequest,
  type RecallTimings,
} from '@tessera/recall';
import { type Flags, fail, print } from '../terminal/command.js';
import { runtimeOptions } from '../terminal/model-flags.js';
import { ProgressLine } from '../terminal/progress.js';
import { readSearch } from '../terminal/search-flags.js';
import { table } from '../terminal/table.js';
import { describeReport, type SearchReport, searchReport, writeReports } from './search-report.js';

const COUNT_MAX = 65_536;
const WIDTH_MAX = 4096;
const DEADLINE_MS_MAX = 3_600_000;
const DEFAULT_DEADLINE_MS = 60_000;

/** One recall as the service does it, in this process: a table with titles and the timings. */
export async function userRecall(flags: Flags): Promise<void> {
  const request = readRequest(flags);
  const budgetUs = 1000 * (flags.integer('deadline-ms', 1, DEADLINE_MS_MAX) ?? DEFAULT_DEADLINE_MS);
  const progress = new ProgressLine();
  const passes: EnginePass[] = [];
  const runtime = await createRecallRuntime({
    ...runtimeOptions(flags, progress.update),
    onPasses: (made) => passes.push(...made),
  });
  progress.end();
  try {
    const { signal } = new AbortController();
    const answer = await runtime.serving.recall(request, { signal, budgetUs });
    const report = searchReport(answer, passes);
    await print(flags.has('json') ? JSON.stringify(answer, null, 2) : describe(answer, report));
    await writeReports(flags.text('report'), [report]);
    if (flags.has('passes')) await print(`\n${passTable(passes)}`);
  } finally {
    await runtime.close();
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
  };
}

function describe(answer: RecallAnswer, report: SearchReport): string {
  const rows = answer.items.map(({ rank, itemId, sid, score, title }) => [
    String(rank),
    itemId,
    sid.join(','),
    score.toFixed(4),
    title,
  ]);
  const list = table(
    [
      { name: 'rank', right: true },
      { name: 'item', right: true },
      { name: 'SID' },
      { name: 'score', right: true },
      { name: 'title' },
    ],
    rows,
  );
  const { historyItems, trimmedItems, skippedItems, promptTokens, widthsUsed } = answer;
  const prompt =
    `prompt: ${promptTokens} tokens, ${historyItems} items ` +
    `(${trimmedItems} trimmed, ${skippedItems} unknown); widths ${widthsUsed.join(', ')}`;
  const short = answer.short ? '\nfewer items exist on the paths found than were asked for' : '';
  const search = `search: ${answer.search}, ${describeReport(report)}`;
  return `${list}${short}\n\n${prompt}\n${search}\n${timingLine(answer.timings)}`;
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
