// Runs a program of this repository: `node tools/run.mjs [--system] PROGRAM [words]`. Sets up and
// builds what is missing first (bootstrap.mjs), except for --help, which builds nothing. PROGRAM is
// the path of its source, without .ts where it is TypeScript; --system sets up what tests of the
// whole system start too.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const forSystem = process.argv[2] === '--system';
const [program, ...words] = process.argv.slice(forSystem ? 3 : 2);
const built = join(root, program.endsWith('.mjs') ? program : `dist/${program}.js`);

const EXIT_SIGNALLED = 130;

/** Runs bootstrap.mjs; a signal meanwhile ends both. */
function bootstrap() {
  const flags = forSystem ? ['--quiet', '--system'] : ['--quiet'];
  const child = spawn(process.execPath, [join(root, 'tools', 'bootstrap.mjs'), ...flags], {
    stdio: ['ignore', process.stderr, 'inherit'],
  });
  const forward = (signal) => child.kill(signal);
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  for (const signal of signals) process.on(signal, forward);
  return new Promise((resolve) => {
    child.on('exit', (status) => {
      for (const signal of signals) process.off(signal, forward);
      resolve(status ?? EXIT_SIGNALLED);
    });
  });
}

if (!words.includes('--help')) {
  const status = await bootstrap();
  if (status !== 0) process.exit(status);
} else if (!existsSync(built)) {
  console.error('this checkout is not built yet: npm run bootstrap, then --help again');
  process.exit(1);
}
process.argv = [process.execPath, built, ...words];
await import(built);
