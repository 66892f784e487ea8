// Makes folders of models by a seed with today's Python libraries and compares each with what the
// library that saved it makes of it. The packages of requirements.txt are installed into
// .cache/folders first, gigabytes and minutes, once.
//
//   npm run folders -- [--count 320] [--seed 7]
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as os from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(dirname(here));
const home = join(root, '.cache', 'folders');
const python = join(home, 'bin', 'python');
const options = {
  count: { type: 'string', default: '320' },
  seed: { type: 'string', default: '7' },
};
const { count, seed } = parseArgs({ options }).values;

function run(command, words, stdio = ['ignore', 2, 2]) {
  const { status } = spawnSync(command, words, { stdio });
  if (status !== 0) throw new Error(`'${command} ${words.join(' ')}' ended with ${status}`);
}

if (!fs.existsSync(python)) run('python3', ['-m', 'venv', home]);
run(python, ['-m', 'pip', 'install', '-q', '-r', join(here, 'requirements.txt')]);
const folders = fs.mkdtempSync(join(os.tmpdir(), 'tessera-folders-'));
try {
  run(
    python,
    [join(here, 'make.py'), '--out', folders, '--count', count, '--seed', seed],
    'ignore',
  );
  run(python, [join(here, 'pairs.py'), '--out', folders], 'ignore');
  const compare = join(root, 'dist', 'test', 'folders', 'main.js');
  run(process.execPath, [compare, '--folders', folders], 'inherit');
} finally {
  fs.rmSync(folders, { recursive: true });
}
