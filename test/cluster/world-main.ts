/** Many worlds of three model nodes; see model-world.ts. */

import { Flags, runCommand } from '../../tools/terminal/command.js';
import { runWorld } from './model-world.js';
import { foundMutations } from './world-mutations.js';

const USAGE = `usage: npm run cluster-world -- [--seeds N] [--seed N] [--mutations]

Three nodes of a model over a simulated clock: processes hang and end, links, disks and stores fail,
callers give up, the log goes back. Ends with 1 where an acknowledged change is lost, a refused one
applied, an erasure not done, two nodes differ, or the log is not trimmed.
  --seeds N      how many worlds (default 1000)
  --seed N       seed of the first one (default 1)
  --mutations    takes one safeguard away at a time, and names the first seed that finds it; ends
                 with 1 where none of so many does`;

const SEEDS = 1000;
const SAID_EVERY = 1000;

/** Seeds that are tried for each mutation. */
const TRIED = 300;

async function mutate(first: number, seeds: number): Promise<void> {
  for await (const { name, seed, fault } of foundMutations(first, seeds)) {
    console.log(seed === undefined ? `not found: ${name}` : `seed ${seed}: ${name}: ${fault}`);
    if (seed === undefined) process.exitCode = 1;
  }
}

await runCommand(USAGE, async (words) => {
  const flags = Flags.parse(words, { seeds: 'text', seed: 'text', mutations: 'switch' });
  const seeds = flags.integer('seeds', 1, 100_000_000) ?? SEEDS;
  const first = flags.integer('seed', 0, 2 ** 31) ?? 1;
  if (flags.has('mutations')) return mutate(first, flags.integer('seeds', 1, SEEDS) ?? TRIED);
  const all = new Map<string, number>();
  let failed = 0;
  for (let seed = first; seed < first + seeds; seed += 1) {
    const { faults, counts } = await runWorld(seed);
    for (const [name, count] of Object.entries(counts)) all.set(name, (all.get(name) ?? 0) + count);
    if (faults.length > 0) failed += 1;
    for (const fault of faults) console.log(`seed ${seed}: ${fault}`);
    if ((seed - first + 1) % SAID_EVERY === 0) process.stderr.write(`${seed - first + 1} worlds\n`);
  }
  console.log(JSON.stringify({ first, seeds, failed, ...Object.fromEntries(all) }));
  if (failed > 0) process.exitCode = 1;
});
