import { examine } from "./doctor/examine.js";
import { Flags, print, runCommand, UsageError } from "./terminal/command.js";
const USAGE = `usage: npm run -s doctor -- PATH [flags]

Says what a folder or file is, what in it contradicts what, and whether a service would take it;
ends with 1 where it would not. PATH: the folder of a model of recalls, of vectors or of relevance,
or of an adapter; a catalogue; a file of users; clicks as the trainer takes them.
  --base DIR     the model of an adapter
  --python FILE  that reads clicks, with trainer/requirements.txt (default: .venv, or python3)`;
await runCommand(USAGE, async ([path, ...words])=>{
    if (path === undefined || path.startsWith('--')) throw new UsageError('expected PATH');
    const flags = Flags.parse(words, {
        base: 'text',
        python: 'text'
    });
    const options = {
        base: flags.text('base'),
        python: flags.text('python')
    };
    const { lines, isServed } = await examine(path, options);
    await print(lines.join('\n'));
    if (!isServed) process.exitCode = 1;
});

//# sourceMappingURL=doctor.js.map