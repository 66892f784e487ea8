/** Many hostile requests to a service; see fuzz.ts. */ import { Flags, runCommand } from "../../tools/terminal/command.js";
import { fuzz } from "./fuzz.js";
const USAGE = `usage: npm run fuzz -- [--requests N] [--seed N]

Hostile requests to every route and method of a service on a small random model; ends with 1 and the
faults where one was taken wrongly or not refused by a code.
  --requests N    how many (default 20000)
  --seed N        seed of the draws (default 1)`;
const REQUESTS = 20_000;
const FAULTS_SHOWN = 30;
const say = (line)=>process.stderr.write(`${line}\n`);
await runCommand(USAGE, async (words)=>{
    const flags = Flags.parse(words, {
        requests: 'text',
        seed: 'text'
    });
    const requests = flags.integer('requests', 1, 100_000_000) ?? REQUESTS;
    const seed = flags.integer('seed', 0, 2 ** 31) ?? 1;
    const faults = await fuzz(seed, requests, say);
    console.log(JSON.stringify({
        seed,
        requests,
        faults: faults.length
    }));
    for (const fault of faults.slice(0, FAULTS_SHOWN))say(`  FAULT ${fault}`);
    if (faults.length > 0) process.exitCode = 1;
});

//# sourceMappingURL=main.js.map