import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@tessera/config';
import { output } from '../suites/native-bench.js';
import type { Peer, PeerSetting } from './peer.js';
import { PeerProcess } from './peer-process.js';

const HOME = join(repositoryRoot, '.cache', 'bench', 'peers');
const PYTHON = join(HOME, 'python', 'bin', 'python');
const SOURCES = join(repositoryRoot, 'bench', 'peers');
const LLAMA = join(HOME, 'llama_peer');

/** Arithmetic of a peer, which decides what it is compared with. */
export type Precision = 'f32' | 'bf16' | 'int8';

export interface PeerKind {
  readonly name: string;
  readonly precision: Precision;
  /** The word for `bench/peers/install.mjs`. */
  readonly install: string;
  /** The file that its installation leaves last. */
  readonly mark: string;
  /** So slow on the larger shape that it is asked only where it is named. */
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

function transformers(name: string, way: string, precision: 'f32' | 'bf16'): PeerKind {
  const dtype = { f32: 'float32', bf16: 'bfloat16' }[precision];
  return {
    name,
    precision,
    install: 'transformers',
    mark: join(HOME, 'transformers.installed'),
    isSlow: way === 'generate',
    bar: 20,
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

function llama(type: 'bf16' | 'q8_0', precision: Precision, bar: number): PeerKind {
  const name = `llama.cpp ${type}`;
  return {
    name,
    precision,
    install: 'llama',
    mark: join(HOME, 'llama.installed'),
    bar,
    start: async (setting) => {
      const weights = join(setting.modelPath, `${type}.gguf`);
      if (!existsSync(weights)) {
        await output(PYTHON, [join(SOURCES, 'write_gguf.py'), setting.modelPath, weights, type]);
      }
      const backends = join(HOME, 'llama-binaries');
      return PeerProcess.start(name, LLAMA, [weights, ...common(setting), backends]);
    },
  };
}

/** In the order in which they are asked. */
export const PEER_KINDS: readonly PeerKind[] = [
  transformers('transformers loop f32', 'loop', 'f32'),
  llama('bf16', 'bf16', 10),
  llama('q8_0', 'int8', 5),
  transformers('transformers loop bf16', 'loop', 'bf16'),
  transformers('transformers generate f32', 'generate', 'f32'),
];
