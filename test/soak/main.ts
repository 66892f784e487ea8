/** The command of all soaks. */

import { execFileSync } from 'node:child_process';
import { missingFor } from '@tessera/testing';
import { Flags, runCommand, UsageError } from '../../tools/terminal/command.js';
import { clusterDays } from '../cluster/cluster-days.js';
import { worlds } from '../cluster/model-world.js';
import { mutations } from '../cluster/world-mutations.js';
import { days } from '../days/days.js';
import { folders } from '../folders/folders.js';
import { fuzz } from '../fuzz/fuzz.js';
import { trial } from '../trial/trial.js';
import { upgrade } from '../upgrade/upgrade.js';
import { overload } from './overload.js';
import { type Kind, runSoak } from './soak.js';

const cluster = clusterDays({ nodes: 3, isLong: true });
const KINDS = new Map<string, Kind>(
  Object.entries({ overload, days, trial, fuzz, folders, cluster, worlds, mutations, upgrade }),
);

const USAGE = `usage: npm run soak -- KIND [--rounds N] [--seconds N] [--seed N] [flags of the kind]

Rounds that a seed draws; ends with 1 and the faults where there are any.
  --rounds N     how many (default: behind the kind's name)
  --seconds N    begins no round after so many
  --seed N       seed of the draws (default: by the clock; printed)

${[...KINDS].map(([name, { usage, rounds }]) => `${name} (${rounds}):${usage}`).join('\n\n')}`;

const COUNT_MAX = 100_000_000;
const say = (line: string) => process.stderr.write(`${line}\n`);

/** A machine that lacks servers of the kind gets them as tests of the whole system do. */
function setUp({ needs = [] }: Kind): void {
  if (missingFor(needs).length === 0) return;
  const words = ['tools/bootstrap.mjs', '--quiet', '--system'];
  execFileSync(process.execPath, words, { stdio: ['ignore', 2, 2] });
}

await runCommand(USAGE, async ([name = '', ...words]) => {
  const kind = KINDS.get(name);
  if (kind === undefined) {
    throw new UsageError(`expected one of ${[...KINDS.keys()].join(', ')}, got '${name}'`);
  }
  const own = { rounds: 'text', seconds: 'text', seed: 'text' } as const;
  const flags = Flags.parse(words, Object.assign({}, kind.flags, own));
  const rounds = flags.integer('rounds', 0, COUNT_MAX) ?? kind.rounds;
  const seconds = flags.integer('seconds', 1, COUNT_MAX) ?? COUNT_MAX;
  const seed = flags.integer('seed', 0, 2 ** 31) ?? Date.now() % 1_000_000;
  setUp(kind);
  say(`${name}: ${rounds} rounds, --seed ${seed}`);
  const outcome = await runSoak(kind, { seed, rounds, seconds, flags, say });
  const { counts, faults } = outcome;
  const sums = { kind: name, seed, rounds: outcome.rounds, ...counts, faults: faults.length };
  console.log(JSON.stringify(sums));
  if (faults.length > 0) process.exitCode = 1;
});
