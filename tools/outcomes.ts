import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  type AnalysisFilter,
  DuckdbStore,
  exploredTraffic,
  type OutcomesPage,
  outcomesPage,
  REWARDS,
  type Reward,
} from '@tessera/analysis';
import { loadConfig } from '@tessera/config';
import { TesseraError } from '@tessera/errors';
import { parseOutcomes } from '@tessera/facts';
import { describeOutcomes } from './outcomes/describe-outcomes.js';
import { readTargets } from './outcomes/read-targets.js';
import { askJson, CONNECTION_FLAGS, CONNECTION_USAGE, servedAt } from './served/connection.js';
import { type FlagKind, Flags, fail, print, runCommand } from './terminal/command.js';

const USAGE = `usage: npm run -s outcomes -- --from URL --what TARGET [flags]
       npm run -s outcomes -- --from DIR --target FILE [flags]

Estimates the reward that another version, valuation or temperature would have had on recalls that
explored (docs/concepts/exploration.md): three estimates a recall, with 95 % intervals.
  --from URL         a running service, which asks the recalls that it has recorded again
  --what TARGET      adapter=NAME, valuation=NAME or temperature=T, or several with commas between;
                     adapter=base: no adapter, valuation=none: by likelihood
  --recalls N        recalls that are asked again at most, the newest (default: 1000)
  --from DIR         a folder of facts (inspection.path/facts)
  --target FILE      CSV, JSON lines or Parquet with recall_id, item_id, propensity: items of the
                     target's answer to each recall, and how likely each is to be in it
  --reward R         ${REWARDS.join(', ')} (default: click)
  --since TIME, --until TIME    of the recalls, as 2026-11-26T10:00:00Z (default: all of DIR,
                     a day of URL)
  --adapter DIGEST   recalls of this version alone; base: of the base model
  --json             the answer of GET console/api/analysis/outcomes
${CONNECTION_USAGE}`;

const TEXTS = ['from', 'what', 'recalls', 'target', 'reward', 'since', 'until', 'adapter'];
const FLAGS: Readonly<Record<string, FlagKind>> = {
  ...CONNECTION_FLAGS,
  ...Object.fromEntries(TEXTS.map((name) => [name, 'text' as const])),
  json: 'switch',
};
const RECALLS_MAX = 5000;

async function ofService(flags: Flags, url: string, reward: Reward): Promise<OutcomesPage> {
  if (flags.has('target')) fail('target', 'nothing beside a service: --what', 'a file');
  const given = {
    what: flags.required('what'),
    reward,
    recalls: flags.integer('recalls', 1, RECALLS_MAX),
    from: flags.timeMs('since'),
    to: flags.timeMs('until'),
    adapter: flags.text('adapter'),
  };
  const query = new URLSearchParams(
    Object.entries(given).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, String(value)]],
    ),
  );
  const { connection } = servedAt(flags, loadConfig().config);
  const path = `${url.replace(/\/$/, '')}/console/api/analysis/outcomes?${query}`;
  return askJson(path, connection);
}

async function ofFacts(flags: Flags, folder: string, reward: Reward): Promise<OutcomesPage> {
  if (flags.has('what')) fail('what', 'nothing beside a folder: --target', 'a target');
  const path = flags.required('target');
  if (!existsSync(path)) fail('target', 'a file', path);
  if (!existsSync(join(folder, 'recall_fact'))) fail('from', 'a folder of facts or a URL', folder);
  const adapter = flags.text('adapter');
  const filter: AnalysisFilter = {
    fromMs: flags.timeMs('since') ?? 0,
    toMs: flags.timeMs('until') ?? Date.now(),
    adapter: adapter === 'base' ? '' : adapter,
    catalogue: '',
    source: 'served',
    scenes: [],
    attributes: [],
  };
  const { inspection, behaviours } = loadConfig().config;
  const store = await DuckdbStore.open(folder);
  try {
    const actions = parseOutcomes(inspection.outcomes, behaviours.clickActions);
    const asking = { store, actions };
    const targets = await readTargets(store, path);
    return outcomesPage(await exploredTraffic(asking, filter, reward), targets, { reward });
  } finally {
    store.close();
  }
}

await runCommand(USAGE, async (words) => {
  const flags = Flags.parse(words, FLAGS);
  const reward = flags.oneOf('reward', REWARDS, 'click');
  const from = flags.required('from');
  const isService = /^https?:\/\//.test(from);
  const page = await (isService ? ofService(flags, from, reward) : ofFacts(flags, from, reward));
  await print(flags.has('json') ? JSON.stringify(page, null, 2) : describeOutcomes(page));
  if (page.estimates !== null) return;
  const { effectiveUsers, effectiveUsersMin } = page;
  const expected = `expected ${effectiveUsersMin} or more (EFFECTIVE_USERS_MIN)`;
  const message = `effectiveUsers: ${expected}, got ${effectiveUsers.toFixed(1)}`;
  throw new TesseraError('REQUEST_INVALID', message, { field: 'effectiveUsers' });
});
