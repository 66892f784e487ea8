/** Many days of a cluster, compared with a model; see cluster-days.ts. */

import { Flags, runCommand } from '../../tools/terminal/command.js';
import { runClusterDays } from './cluster-days.js';

const USAGE = `usage: npm run cluster-days -- [--days N] [--seed N]

Three nodes and two gateways on this machine, whose processes and whose log are killed and held up,
and whose disks are emptied and rolled back, while items change and users are erased; ends with 1
and the faults where a node does not come back by itself, or holds other than a model says.
  --days N             how many (default 30)
  --seed N             seed of the draws (default 1)`;

const DAYS = 30;
const say = (line: string) => process.stderr.write(`${line}\n`);

await runCommand(USAGE, async (words) => {
  const flags = Flags.parse(words, { days: 'text', seed: 'text' });
  const days = flags.integer('days', 1, 1_000_000) ?? DAYS;
  const seed = flags.integer('seed', 0, 2 ** 31) ?? 1;
  const { faults, counts } = await runClusterDays({
    seed,
    days,
    isLong: true,
    say,
  });
  console.log(JSON.stringify({ seed, days, ...counts, faults: faults.length }));
  if (faults.length > 0) process.exitCode = 1;
});
