#!/usr/bin/env node
// The command of an installed package: `tessera [start|gateway|feature|COMMAND] [words]`.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const APPS = { start: 'standalone', gateway: 'gateway', feature: 'feature' };
const [command = 'start', ...words] = process.argv.slice(2);
const dist = join(dirname(dirname(fileURLToPath(import.meta.url))), 'dist');
const app = Object.hasOwn(APPS, command) ? APPS[command] : undefined;
const program =
  app === undefined
    ? join(dist, 'tools', `${command}.js`)
    : join(dist, 'apps', app, 'src', 'main.js');

if (!/^[a-z-]+$/.test(command) || !existsSync(program)) {
  console.error(`usage: tessera [start|gateway|feature|COMMAND] [words]
start     serves the demo, or TESSERA_MODEL_PATH, with stores in ./data
gateway   stands before many nodes
feature   takes behaviours in
COMMAND   one that the documentation starts by \`npm run\`: recall, catalogue, adapter, backup and
          others, each with --help`);
  process.exit(command === '--help' ? 0 : 2);
}
process.argv = [process.execPath, program, ...words];
await import(program);
