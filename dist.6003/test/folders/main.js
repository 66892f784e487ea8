/** Folders that test/folders/make.py wrote, compared with what their own library makes of them. */ import { readdirSync } from "node:fs";
import { join } from "node:path";
import { Flags, runCommand } from "../../tools/terminal/command.js";
import { compareFolder } from "./compare-folder.js";
const USAGE = `usage: node dist/test/folders/main.js --folders DIR [--all]

Opens each folder of DIR as the service does. Ends with 1 where one is silently wrong, or is refused
without a place.
  --folders DIR   output of python test/folders/make.py --out DIR
  --all           a line for each folder, not for those alone that fail`;
const FAILED = [
    'wrong',
    'nameless'
];
await runCommand(USAGE, async (words)=>{
    const flags = Flags.parse(words, {
        folders: 'text',
        all: 'switch'
    });
    const root = flags.required('folders');
    const counts = {
        equal: 0,
        refused: 0,
        told: 0,
        wrong: 0,
        nameless: 0,
        loaded: 0
    };
    const names = readdirSync(root).sort();
    for (const name of names){
        const { verdict, detail } = await compareFolder(join(root, name));
        counts[verdict] += 1;
        if (flags.has('all') || FAILED.includes(verdict)) console.log(`${name}: ${verdict} ${detail}`);
    }
    console.log(`folders: ${names.length}; ${counts.equal} equal, ${counts.refused} refused by name, ` + `${counts.told} told at the start, ${counts.wrong} silently wrong, ` + `${counts.nameless} refused without a place, ${counts.loaded} that their library refuses`);
    if (FAILED.some((verdict)=>counts[verdict] > 0)) process.exitCode = 1;
});

//# sourceMappingURL=main.js.map