// Checks what no other tool does: lengths, words, the include law of native/src, READMEs, links,
// decisions and radii. Prints `path:line: message` per fault and fails when there is one.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deadNative } from './dead-native.mjs';
import { radiusFaults } from './radius.mjs';
import { decisionFaults } from './tidy-decisions.mjs';
import { dialectFaults } from './tidy-dialect.mjs';
import { figureFaults } from './tidy-figures.mjs';
import { linkFaults, pagesApart } from './tidy-links.mjs';
import { missingReadmes, RULES } from './tidy-rules.mjs';

process.chdir(dirname(dirname(fileURLToPath(import.meta.url))));

const IGNORED = new Set([
  ...['node_modules', 'dist', 'build', '.git', '.cache', '.venv', '.pytest_cache', '__pycache__'],
  'target',
  ...['data', 'models', 'fixtures', 'results'],
]);
const READ = /\.(ts|tsx|css|mjs|cjs|h|cc|inc|cuh?|py|md|proto|json|txt|sh)$/;
const NOT_OURS = new Set(['package-lock.json']);

function walk(folder) {
  return readdirSync(folder || '.', { withFileTypes: true }).flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) return IGNORED.has(entry.name) ? [] : walk(path);
    return READ.test(entry.name) && !NOT_OURS.has(path) ? [path] : [];
  });
}

const foldersOf = (parent) =>
  existsSync(parent)
    ? readdirSync(parent, { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map((entry) => join(parent, entry.name))
    : [];

const domainLibs = ['libs', ...foldersOf('libs')]
  .flatMap(foldersOf)
  .filter((lib) => existsSync(join(lib, 'src', 'domain')));
const texts = new Map(walk('').map((path) => [path, readFileSync(path, 'utf8')]));
const ceilings = JSON.parse(readFileSync('tools/radius.json', 'utf8'));
const faults = [
  ...[...texts].flatMap(([path, text]) =>
    RULES.flatMap((rule) => rule(path, text, existsSync).map((fault) => ({ path, ...fault }))),
  ),
  ...radiusFaults(texts, ceilings),
  ...deadNative(texts),
  ...decisionFaults(texts),
  ...linkFaults(texts, existsSync),
  ...pagesApart(texts),
  ...figureFaults(texts),
  ...dialectFaults(texts, JSON.parse(readFileSync('tools/dialect.json', 'utf8'))),
  ...missingReadmes([...foldersOf('native/src'), ...domainLibs], existsSync),
];
for (const { path, line, message } of faults) console.error(`${path}:${line}: ${message}`);
if (faults.length > 0) {
  console.error(`tidy: ${faults.length} faults`);
  process.exit(1);
}
