import type { RankAnswer, RankedItem, RankRequest } from '@tessera/recall';
import { readRank } from './recall/ranking-flags.js';
import { RANKING_USAGE, RankingVersions } from './served/ranking-version.js';
import { Flags, fail, print, runCommand } from './terminal/command.js';
import { MODEL_FLAGS, runtimeOptions } from './terminal/model-flags.js';
import { ProgressLine } from './terminal/progress.js';
import { table } from './terminal/table.js';

const USAGE = `usage: npm run rank -- (--history ID,ID,... | --user ID) --items ID,ID,... [flags]

Items by the numbers of heads, best first, for a user or for a history of item IDs:
${RANKING_USAGE}
  --rank-valuation NAME    a valuation whose terms may be heads (default: by the first head)
  --valuations FILE    formulas of values (default: as configured, or of the model folder)
  --scene KEY=VALUE, --profile KEY=VALUE    slots of the prompt template; may repeat
  --model DIR, --catalogue FILE[#domain=NAME], --titles FILE, --users-file FILE    as for
                       npm run recall
  --dtype f32|bf16|w8a8, --threads N
  --json               JSON on the standard output and nothing else (npm adds lines: npm run -s)`;

const BUDGET_US = 60_000_000;
const listOf = (text: string) => text.split(',').map((id) => id.trim());

function requestOf(flags: Flags): Omit<RankRequest, 'rank'> {
  const [history, userId] = [flags.text('history'), flags.text('user')];
  if ((history === undefined) === (userId === undefined)) {
    fail('history', 'exactly one of --history and --user', 'none or both');
  }
  return {
    requestId: '',
    ...(history !== undefined && { history: listOf(history) }),
    ...(userId !== undefined && { userId }),
    profile: flags.pairs('profile'),
    scene: flags.pairs('scene'),
    skipUnknownItems: true,
    itemIds: listOf(flags.required('items')),
  };
}

function describe({ items, ranking }: RankAnswer): string {
  const { heads, valuation } = ranking;
  const terms = Object.keys(valuation?.weights ?? {});
  const shown = (value: number | undefined) => value?.toFixed(6) ?? '-';
  const valued = (item: RankedItem) => {
    const { value } = item.ranking ?? {};
    return [value?.value, ...terms.map((name) => value?.terms[name])].map(shown);
  };
  const names = ['rank', 'item', ...heads, ...(valuation ? ['value', ...terms] : []), 'failure'];
  return table(
    names.map((name) => ({ name, right: name !== 'failure' })),
    items.map((item) => [
      item.rank === 0 ? '-' : String(item.rank),
      item.itemId,
      ...heads.map((name) => shown(item.ranking?.heads[name])),
      ...(valuation ? valued(item) : []),
      item.failure?.code ?? '',
    ]),
  );
}

await runCommand(USAGE, async (words) => {
  const flags = Flags.parse(words, {
    ...MODEL_FLAGS,
    history: 'text',
    user: 'text',
    items: 'text',
    version: 'text',
    'rank-valuation': 'text',
    valuations: 'text',
    scene: 'texts',
    profile: 'texts',
    json: 'switch',
  });
  const request = requestOf(flags);
  const progress = new ProgressLine();
  const versions = await RankingVersions.of(flags.text('version'));
  try {
    const [runtime, { rank, own }] = await versions.open(runtimeOptions(flags, progress.update));
    progress.end();
    try {
      const answer = await runtime.serving.rank(
        { ...request, ...own, rank: readRank(flags, rank.adapter) },
        { signal: new AbortController().signal, budgetUs: BUDGET_US },
      );
      await print(flags.has('json') ? JSON.stringify(answer, null, 2) : describe(answer));
    } finally {
      await runtime.close();
    }
  } finally {
    await versions.remove();
  }
});
