import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@tessera/config';
import { output } from '../suites/native-bench.js';
import type { Peer, PeerSetting } from './peer.js';
import { PeerProcess } from './peer-process.js';

export const PEERS_HOME = join(repositoryRoot, '.cache', 'bench', 'peers');
export const PYTHON = join(PEERS_HOME, 'python', 'bin', 'python');
export const TRANSFORMERS_MARK = join(PEERS_HOME, 'transformers.installed');
/** The peers' own programs. */
export const SOURCES = join(repositoryRoot, 'bench', 'peers');
const LLAMA = join(PEERS_HOME, 'llama_peer');
const LLAMA_BACKENDS = join(PEERS_HOME, 'llama-binaries');

/** Arithmetic of a peer, which decides what it is compared with. */
export type Precision = 'f32' | 'bf16' | 'int8';

export interface PeerKind {
  readonly name: string;
  readonly precision: Precision;
  /** The word for `bench/peers/install.mjs`. */
  readonly install: string;
  /** The file that its installation leaves last. */
  readonly mark: string;
  /** So slow that it is asked once, and on the larger shape only where it is named. */
  readonly isSlow?: boolean;
  /** Times over which the service's recall is to be faster, on the larger shape. */
  readonly bar?: number;
  start(setting: PeerSetting): Promise<Peer>;
}

export function installCommand({ install }: PeerKind): string {
  return `node bench/peers/install.mjs ${install}`;
}

export function isInstalled({ mark }: PeerKind): boolean {
  return existsSync(mark);
}

function common({ sidsPath, levels, codes, threads }: PeerSetting): string[] {
  return [sidsPath, ...[levels, codes, threads].map(String)];
}

type Way = 'generate' | 'loop' | 'shared';

function transformers(way: Way, precision: 'f32' | 'bf16', bar?: number): PeerKind {
  const name = `transformers ${way} ${precision}`;
  const dtype = { f32: 'float32', bf16: 'bfloat16' }[precision];
  return {
    name,
    precision,
    install: 'transformers',
    mark: TRANSFORMERS_MARK,
    isSlow: way !== 'shared',
    ...(bar === undefined ? {} : { bar }),
    start: (setting) =>
      PeerProcess.start(name, PYTHON, [
        join(SOURCES, 'transformers_peer.py'),
        setting.modelPath,
        ...common(setting),
        way,
        dtype,
      ]),
  };
}

type LlamaType = 'bf16' | 'q8_0';

/** The weights of a folder as llama.cpp reads them, made where they are absent. */
async function llamaWeights(modelPath: string, type: LlamaType): Promise<string> {
  const weights = join(modelPath, `${type}.gguf`);
  if (!existsSync(weights)) {
    await output(PYTHON, [join(SOURCES, 'write_gguf.py'), modelPath, weights, type]);
  }
  return weights;
}

function llama(type: LlamaType, precision: Precision, bar: number): PeerKind {
  const name = `llama.cpp ${type}`;
  return {
    name,
    precision,
    install: 'llama',
    mark: join(PEERS_HOME, 'llama.installed'),
    bar,
    start: async (setting) => {
      const weights = await llamaWeights(setting.modelPath, type);
      return PeerProcess.start(name, LLAMA, [weights, ...common(setting), LLAMA_BACKENDS]);
    },
  };
}

async function onnxGraph({ modelPath, promptTokens }: PeerSetting): Promise<string> {
  const graph = join(modelPath, `prefill-${promptTokens}.onnx`);
  if (!existsSync(graph)) {
    const words = [join(SOURCES, 'write_onnx.py'), modelPath, String(promptTokens), graph];
    await output(PYTHON, words);
  }
  return graph;
}

async function int8Graph(setting: PeerSetting): Promise<string> {
  const graph = await onnxGraph(setting);
  const quantised = graph.replace(/\.onnx$/, '-int8.onnx');
  if (!existsSync(quantised)) {
    await output(PYTHON, [join(SOURCES, 'write_int8_onnx.py'), graph, quantised]);
  }
  return quantised;
}

function onnxRuntime(precision: 'f32' | 'int8'): PeerKind {
  const name = `ONNX Runtime ${precision}`;
  return {
    name,
    precision,
    install: 'onnxruntime',
    mark: join(PEERS_HOME, 'onnxruntime.installed'),
    start: async (setting) =>
      PeerProcess.start(name, process.execPath, [
        join(SOURCES, 'onnxruntime_peer.mjs'),
        join(PEERS_HOME, 'package.json'),
        await (precision === 'int8' ? int8Graph(setting) : onnxGraph(setting)),
        ...[setting.codes, setting.threads].map(String),
      ]),
  };
}

/** In the order in which they are asked. */
export const PEER_KINDS: readonly PeerKind[] = [
  llama('bf16', 'bf16', 2.8),
  llama('q8_0', 'int8', 5),
  transformers('shared', 'bf16', 8),
  transformers('shared', 'f32'),
  onnxRuntime('f32'),
  onnxRuntime('int8'),
  transformers('loop', 'f32'),
  transformers('generate', 'f32'),
];
