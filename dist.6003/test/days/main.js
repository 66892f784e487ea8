/** Many days of a service, compared with a model; see days.ts. */ import { Flags, runCommand } from "../../tools/terminal/command.js";
import { runDays } from "./days.js";
const USAGE = `usage: npm run days -- [--days N] [--seed N]

A service on a small random model through days of ads, users, adapters, base models, compactions,
restarts and kill -9; ends with 1 and the faults where an answer or a list was not as a model says.
  --days N    how many (default 1000)
  --seed N    seed of the draws (default 1)`;
const DAYS = 1000;
const FAULTS_SHOWN = 20;
const say = (line)=>process.stderr.write(`${line}\n`);
await runCommand(USAGE, async (words)=>{
    const flags = Flags.parse(words, {
        days: 'text',
        seed: 'text'
    });
    const days = flags.integer('days', 1, 1_000_000) ?? DAYS;
    const seed = flags.integer('seed', 0, 2 ** 31) ?? 1;
    const { faults, counts } = await runDays(seed, days, say);
    console.log(JSON.stringify({
        seed,
        days,
        ...counts,
        faults: faults.length
    }));
    for (const fault of faults.slice(0, FAULTS_SHOWN))say(`  FAULT ${fault}`);
    if (faults.length > 0) process.exitCode = 1;
});

//# sourceMappingURL=main.js.map