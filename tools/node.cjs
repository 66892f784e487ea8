// biome-ignore-all lint/style/useNodejsImportProtocol: Node 12 does not know node:
'use strict';
// `node tools/node.cjs PROGRAM [words]` runs a program on a Node that the product takes: this one,
// or Node 24 and npm of test/nodes, fetched once into .cache/packages where this one is older (npm
// too: one of Debian's age refuses our lock file). PROGRAM is the path of a module or the name of a
// program in node_modules/.bin.
const { spawn } = require('child_process');
const fs = require('fs');
const { delimiter, dirname, join, resolve } = require('path');
const { pathToFileURL } = require('url');
const { atWork, startNothing } = require('./npm.cjs');
const { NODES_LOCK, PACKAGES, nodeName, unpackPackages } = require('./packages.cjs');

const EXIT_SIGNALLED = 130;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'];
const root = dirname(__dirname);
const version = process.versions.node;
const [major, minor] = version.split('.').map(Number);
const isNewEnough = major > 22 || (major === 22 && minor >= 12);

const named = process.argv[2];
const program = named.includes('/') ? resolve(root, named) : join(root, 'node_modules/.bin', named);

/** Another process may do the same meanwhile. */
function linkNpm(folder) {
  for (const tool of ['npm', 'npx']) {
    try {
      fs.symlinkSync(join('../../npm/bin', `${tool}-cli.js`), join(folder, tool));
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
  }
}

/** Ends what fetches, and this process. */
function giveUp(signal) {
  startNothing();
  for (const { pid } of atWork) process.kill(-pid, signal);
  process.exit(EXIT_SIGNALLED);
}

/** The path of Node 24; the process ends with a sentence where there is none to be had. */
async function fetchedNode() {
  const name = nodeName(24);
  const path = join(PACKAGES, name, 'bin', 'node');
  if (!fs.existsSync(path)) {
    console.error(`expected Node 22.12 or later, got ${version}: fetching Node 24 into .cache`);
  }
  for (const signal of SIGNALS) process.on(signal, giveUp);
  try {
    if (process.platform !== 'linux') throw new Error(`none is known for ${process.platform}`);
    await unpackPackages(NODES_LOCK, [name, 'npm']);
    linkNpm(dirname(path));
  } catch (error) {
    console.error(`Node 24 could not be fetched: ${error.message}`);
    console.error('install Node 22.12 or later, or make the npm registry reachable, and try again');
    process.exit(1);
  }
  for (const signal of SIGNALS) process.off(signal, giveUp);
  return path;
}

/** Runs the program on another Node, first in PATH for all that it starts, and ends as it does. */
function runOn(node) {
  const PATH = [dirname(node), process.env.PATH].join(delimiter);
  const child = spawn(node, [program].concat(process.argv.slice(3)), {
    stdio: 'inherit',
    env: Object.assign({}, process.env, { PATH }),
  });
  for (const signal of SIGNALS) {
    // A terminal sends its interrupts to the child as well.
    process.on(signal, () => {
      if (!(process.stdin.isTTY && (signal === 'SIGINT' || signal === 'SIGQUIT'))) {
        child.kill(signal);
      }
    });
  }
  child.on('exit', (status) => process.exit(status === null ? EXIT_SIGNALLED : status));
}

if (!fs.existsSync(program)) {
  console.error(`expected ${program}, got none: npm run bootstrap`);
  process.exit(1);
} else if (isNewEnough) {
  process.argv.splice(1, 2, program);
  import(pathToFileURL(fs.realpathSync(program)).href);
} else {
  fetchedNode().then(runOn);
}
