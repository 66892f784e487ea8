import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type AnalysisStore, ClickHouseStore, DuckdbStore } from '@tessera/analysis';
import { loadConfig } from '@tessera/config';
import { parseOutcomes } from '@tessera/facts';
import { reportPage } from './report/report-page.js';
import { Flags, fail, print, runCommand } from './terminal/command.js';

const USAGE = `usage: npm run -s report -- --from TIME --to TIME [flags]

One HTML file about the recalls of a span: coverage, Gini, popularity lift, novelty, reach,
outcome by version and position, drift against last week. TIME: 2026-11-26T10:00:00Z.
  --by NAME          attribute by which reach and drift are told (default: advertiser)
  --out FILE         where it goes (default: report.html)
  --store KIND       duckdb (default: the files of inspection.path) or clickhouse
  --facts DIR        folder of facts in place of inspection.path
  --url URL, --database NAME, --user NAME    of ClickHouse (default: http://127.0.0.1:8123, default,
                     default; no password)`;

function storeOf(flags: Flags, folder: string): Promise<AnalysisStore> {
  if (flags.oneOf('store', ['duckdb', 'clickhouse'], 'duckdb') === 'duckdb') {
    return DuckdbStore.open(flags.text('facts') ?? folder);
  }
  const url = flags.text('url') ?? 'http://127.0.0.1:8123';
  const [database, user] = [flags.text('database') ?? 'default', flags.text('user') ?? 'default'];
  return Promise.resolve(new ClickHouseStore({ url, database, user, password: '' }));
}

await runCommand(USAGE, async (words) => {
  const flags = Flags.parse(words, {
    from: 'text',
    to: 'text',
    by: 'text',
    out: 'text',
    store: 'text',
    facts: 'text',
    url: 'text',
    database: 'text',
    user: 'text',
  });
  const [fromMs, toMs] = [flags.requiredMs('from'), flags.requiredMs('to')];
  if (fromMs >= toMs) fail('to', 'a time behind --from', flags.required('to'));
  const { inspection, behaviours } = loadConfig().config;
  const store = await storeOf(flags, join(inspection.path, 'facts'));
  const actions = parseOutcomes(inspection.outcomes, behaviours.clickActions);
  const span = { fromMs, toMs, catalogue: '', scenes: [], attributes: [] };
  const filter = { ...span, source: 'served' } as const;
  const out = flags.text('out') ?? 'report.html';
  const by = flags.text('by') ?? 'advertiser';
  writeFileSync(out, await reportPage({ store, actions }, { filter, by }));
  await print(`${out} is written`);
});
