// The OpenAPI documents without a service that runs. `npm run openapi -- --out FILE` writes that
// for servers; `--check` lints both and compares the first with that of the last release; `--keep`
// makes it that, as a release does.
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import os from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadConfigFromFile, runnerImport } from 'vite';
import { brokenPromises } from './openapi/promises.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
process.chdir(root);
const KEPT = join('test', 'contract', 'v1.openapi.json');
const RULES = join('tools', 'openapi', 'rules.yaml');

async function documents() {
  const { version } = JSON.parse(fs.readFileSync('package.json', 'utf8'));
  const { config } = await loadConfigFromFile(
    { command: 'build', mode: 'production' },
    'vitest.config.ts',
  );
  const source = join(root, 'apps', 'standalone', 'src', 'openapi.ts');
  const { module } = await runnerImport(source, { ...config, configFile: false, root });
  return {
    servers: module.openApiDocument(version),
    console: module.consoleDocument(version),
  };
}

/** @returns true where the linter finds nothing in any of them */
function lint(all) {
  const folder = fs.mkdtempSync(join(os.tmpdir(), 'tessera-openapi-'));
  try {
    const files = Object.entries(all).map(([name, document]) => {
      const file = join(folder, `${name}.json`);
      fs.writeFileSync(file, JSON.stringify(document));
      return file;
    });
    const words = ['lint', '--config', RULES, '--format', 'stylish', ...files];
    const { status } = spawnSync(join('node_modules', '.bin', 'redocly'), words, {
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
    });
    return status === 0;
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

function keeps(document) {
  const broken = brokenPromises(JSON.parse(fs.readFileSync(KEPT, 'utf8')), document);
  for (const one of broken) console.error(`${KEPT}: ${one}`);
  return broken.length === 0;
}

const textOf = (document) => `${JSON.stringify(document, null, 2)}\n`;
const [flag = '--check', out = ''] = process.argv.slice(2);
const all = await documents();
if (flag === '--check') process.exitCode = [lint(all), keeps(all.servers)].every(Boolean) ? 0 : 1;
else if (flag === '--keep') fs.writeFileSync(KEPT, textOf(all.servers));
else if (flag === '--out' && out !== '') fs.writeFileSync(out, textOf(all.servers));
else {
  console.error('usage: npm run openapi -- [--check | --keep | --out FILE]');
  process.exitCode = 2;
}
