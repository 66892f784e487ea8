import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { PEERS_HOME, PYTHON, SOURCES, TRANSFORMERS_MARK } from '../../peers/peer-kinds.js';
import { PeerProcess } from '../../peers/peer-process.js';
import { buildNativeBench, type NativeResult } from '../native-bench.js';

/** Words that all peers get after their own. */
type Words = readonly string[];

/** Programs that run a layer of experts and answer with the times of each way that they have. */
export interface LayerPeer {
  readonly name: string;
  /** The word for `bench/peers/install.mjs`. */
  readonly install: string;
  /** The file that its installation leaves last. */
  readonly mark: string;
  readonly command: (words: Words) => readonly string[];
}

const python = (program: string) => (words: Words) => [PYTHON, join(SOURCES, program), ...words];

export const LAYER_PEERS: readonly LayerPeer[] = [
  {
    name: 'transformers',
    install: 'transformers',
    mark: TRANSFORMERS_MARK,
    command: python('experts_peer.py'),
  },
  {
    name: 'llama.cpp',
    install: 'llama',
    mark: join(PEERS_HOME, 'llama.installed'),
    command: (words) => {
      const program = join(PEERS_HOME, 'experts_llama_peer');
      return [program, join(PEERS_HOME, 'llama-binaries'), ...words];
    },
  },
  {
    name: 'kt-kernel',
    install: 'kt-kernel',
    mark: join(PEERS_HOME, 'kt-kernel.installed'),
    command: python('experts_kt_peer.py'),
  },
  {
    name: 'vllm',
    install: 'vllm',
    mark: join(PEERS_HOME, 'vllm.installed'),
    command: (words) => {
      const library = join(PEERS_HOME, 'vllm', 'vllm', '_C_AVX512.abi3.so');
      return python('experts_vllm_peer.py')([library, ...words]);
    },
  },
];

export const isInstalled = ({ mark }: LayerPeer) => existsSync(mark);
export const installCommand = ({ install }: LayerPeer) => `node bench/peers/install.mjs ${install}`;

/** One program that has drawn its weights, and waits for numbers of rows. */
export interface LayerProgram {
  /** Names of results are TYPE/WAY/ROUTING/ROWS. */
  times(rows: number): Promise<readonly NativeResult[]>;
  close(): Promise<void>;
}

export function startPeer({ name, command }: LayerPeer, words: Words): Promise<LayerProgram> {
  return started(name, command(words));
}

export async function startOwn(words: Words): Promise<LayerProgram> {
  return started('experts_bench', [await buildNativeBench('experts_bench'), ...words]);
}

async function started(name: string, [program = '', ...words]: Words): Promise<LayerProgram> {
  const running = await PeerProcess.start(name, program, words);
  const times = async (rows: number) =>
    (await running.exchange<{ results: NativeResult[] }>({ rows })).results;
  return { times, close: () => running.close() };
}
