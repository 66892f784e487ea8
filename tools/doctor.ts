import { CALIBRATE_USAGE, calibrate } from './doctor/calibrate.js';
import { examine } from './doctor/examine.js';
import { Flags, print, runCommand, UsageError } from './terminal/command.js';

const USAGE = `usage: npm run -s doctor -- PATH [flags]
       npm run doctor -- --calibrate --out FILE (--sequences FILE | --prompts FILE) [flags]
       npm run doctor -- --calibrate --model DIR --texts FILE [--threads N]

Says what a folder or file is, what in it contradicts what, and whether a service would take it;
ends with 1 where it would not. PATH: the folder of a model of recalls, of vectors or of relevance,
or of an adapter; a catalogue; a file of users; clicks as the trainer takes them.
  --base DIR     the model of an adapter
  --python FILE  that reads clicks, with trainer/requirements.txt (default: .venv, or python3)

${CALIBRATE_USAGE}`;

await runCommand(USAGE, async ([path, ...words]) => {
  if (path === '--calibrate') return calibrate(words);
  if (path === undefined || path.startsWith('--')) throw new UsageError('expected PATH');
  const flags = Flags.parse(words, { base: 'text', python: 'text' });
  const options = { base: flags.text('base'), python: flags.text('python') };
  const { lines, isServed } = await examine(path, options);
  await print(lines.join('\n'));
  if (!isServed) process.exitCode = 1;
});
