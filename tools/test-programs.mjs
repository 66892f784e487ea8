// Programs of tests that no package of the system or of the project has: steps of bootstrap.mjs,
// so node: modules alone.
import * as fs from 'node:fs';
import { join } from 'node:path';
import { NODES_LOCK, nodeName, PACKAGES, unpackPackages } from './packages.cjs';

const checkers = join('.cache', 'deploy-checkers');
const checkerList = join('deploy', 'checkers', 'requirements.txt');

/** A machine without them tests everything but deploy/cluster by the programs that it is for. */
async function installCheckers({ run, say }) {
  const pip = join(checkers, 'bin', 'pip');
  const words = ['install', '-q', '--retries', '1', '--timeout', '10', '-r', checkerList];
  try {
    await run('python3', ['-m', 'venv', '--clear', checkers]);
    await run(pip, ['--disable-pip-version-check', ...words]);
  } catch (error) {
    fs.rmSync(checkers, { recursive: true, force: true });
    say(`Envoy and kubernetes-validate are not asked here: ${error.message}`);
  }
}

const promtoolFolder = join('.cache', 'promtool');

/** Out of Debian's package, which would start a server: only its checker is wanted. */
async function fetchPromtool({ run, say }) {
  fs.mkdirSync(promtoolFolder, { recursive: true });
  try {
    await run('apt-get', ['download', '-q', 'prometheus'], { cwd: promtoolFolder });
    const [deb] = fs.readdirSync(promtoolFolder).filter((name) => name.endsWith('.deb'));
    await run('dpkg-deb', ['-x', deb, '.'], { cwd: promtoolFolder });
    fs.rmSync(join(promtoolFolder, deb));
  } catch (error) {
    fs.rmSync(promtoolFolder, { recursive: true, force: true });
    say(`rules of Prometheus are not tried here: ${error.message}`);
  }
}

const brokerJars = join('.cache', 'kafka-broker');

/** @param setUp what bootstrap.mjs runs its steps with */
export async function fetchTestPrograms(setUp) {
  const { root, run, step, onPath, npmEnvironment } = setUp;
  const copyJars = ['dependency:copy-dependencies', `-DoutputDirectory=${join(root, brokerJars)}`];
  const nodes = [22, 24].map(nodeName);
  await step({
    name: 'Node binaries',
    inputs: [NODES_LOCK, 'tools/packages.cjs'],
    outputs: nodes.map((name) => join(PACKAGES, name)),
    act: () => unpackPackages(NODES_LOCK, nodes, npmEnvironment()),
  });
  await step({
    name: 'promtool',
    inputs: ['tools/test-programs.mjs'],
    outputs: [],
    holds: () => !onPath('apt-get') || fs.existsSync(promtoolFolder),
    act: () => fetchPromtool(setUp),
  });
  await step({
    name: 'Kafka broker',
    inputs: ['test/kafka/pom.xml'],
    outputs: [brokerJars],
    act: () => run('mvn', ['-q', '-B', '-f', 'test/kafka/pom.xml', ...copyJars]),
  });
  await step({
    name: 'checkers of deployments',
    inputs: [checkerList],
    outputs: [],
    holds: () => fs.existsSync(join(checkers, 'bin', 'envoy')),
    act: () => installCheckers(setUp),
  });
}
