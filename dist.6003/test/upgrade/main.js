/** A cluster that is rolled from the previous release to this one and back; see roll.ts. */ import { Flags, runCommand } from "../../tools/terminal/command.js";
import { previousRelease } from "./previous-release.js";
import { rollThereAndBack } from "./roll.js";
const USAGE = `usage: npm run test:upgrade -- --from REF [--calls-per-second N]

Builds the release of a git ref in a worktree, starts three nodes and two gateways of it, and rolls
them process by process to this checkout and back, under recalls and changes; ends with 1 where one
is lost or wrong.
  --from REF              tag or commit of the previous release
  --calls-per-second N    recalls (default 40)`;
const CALLS_PER_SECOND = 40;
const SHOWN_MAX = 20;
const say = (line)=>process.stderr.write(`${line}\n`);
await runCommand(USAGE, async (words)=>{
    const flags = Flags.parse(words, {
        from: 'text',
        'calls-per-second': 'text'
    });
    const from = flags.required('from');
    const callsPerSecond = flags.integer('calls-per-second', 1, 10_000) ?? CALLS_PER_SECOND;
    const folder = previousRelease(from);
    const to = process.cwd();
    const { counts, faults } = await rollThereAndBack({
        from: folder,
        to,
        callsPerSecond,
        say
    });
    for (const fault of faults.slice(0, SHOWN_MAX))say(fault);
    console.log(JSON.stringify({
        from,
        ...counts
    }));
    if (counts.lost + counts.wrong + counts.lostWrites > 0) process.exitCode = 1;
});

//# sourceMappingURL=main.js.map