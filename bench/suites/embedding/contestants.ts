import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '@tessera/config';
import { openEmbedding } from '../../../apps/standalone/src/embedding.js';
import { type Precision, PYTHON, SOURCES, TRANSFORMERS_MARK } from '../../peers/peer-kinds.js';
import { PeerProcess } from '../../peers/peer-process.js';
import { output } from '../native-bench.js';
import type { DrawnText, Way } from './texts.js';

const COMPUTE_TYPES = { f32: 'f32', bf16: 'bf16', int8: 'w8a8' } as const;
const WAYS: readonly Way[] = ['padded', 'sorted'];

/** Vectors of texts, and the time that all of them took. */
export interface EmbeddedTexts {
  readonly totalMs: number;
  /** Absent where they were not to be shown. */
  readonly vectors?: readonly ArrayLike<number>[];
}

/** Setting of the contestants. */
export interface Setting {
  /** Hugging Face folder. */
  readonly modelPath: string;
  readonly threads: number;
}

export interface Contestant {
  readonly name: string;
  readonly precision: Precision;
  /** Absent where it is this service. */
  readonly way?: Way;
  embed(texts: readonly DrawnText[], isShown: boolean): Promise<EmbeddedTexts>;
  close(): void | Promise<void>;
}

/** The models of texts as a process serves them, this one model in it. */
export function openOwn({ modelPath, threads }: Setting, precision: Precision) {
  const { embedding, engine } = loadConfig().config;
  const asked = { models: `bench=${modelPath}`, computeType: COMPUTE_TYPES[precision] };
  const own = { embedding: Object.assign({}, embedding, asked), engine };
  return openEmbedding(own, { threadCount: threads });
}

/** This service: from texts, tokenizer and queue included. */
export async function ourselves(setting: Setting, precision: Precision): Promise<Contestant> {
  const models = await openOwn(setting, precision);
  return {
    name: `tessera ${COMPUTE_TYPES[precision]}`,
    precision,
    embed: async (drawn) => {
      const texts = drawn.map(({ text }) => text);
      const started = performance.now();
      const { vectors } = await models.embed({ model: '', texts, dimensions: undefined });
      return { totalMs: performance.now() - started, vectors };
    },
    close: () => models.close(),
  };
}

interface EmbeddingPeer {
  readonly engine: string;
  readonly precision: Precision;
  /** Graph that the program reads in place of the folder. */
  readonly graphOf?: (modelPath: string) => Promise<string>;
}

/** In the order in which they are asked. */
const PEERS: readonly EmbeddingPeer[] = [
  { engine: 'transformers', precision: 'f32' },
  { engine: 'transformers', precision: 'bf16' },
  { engine: 'onnxruntime', precision: 'f32', graphOf: onnxGraph },
  { engine: 'onnxruntime', precision: 'int8', graphOf: int8Graph },
  { engine: 'openvino', precision: 'f32', graphOf: onnxGraph },
  { engine: 'openvino', precision: 'bf16', graphOf: onnxGraph },
  { engine: 'openvino', precision: 'int8', graphOf: onnxGraph },
  { engine: 'ctranslate2', precision: 'f32' },
  { engine: 'ctranslate2', precision: 'int8' },
];

export const PEER_NAMES = [...new Set(PEERS.map(({ engine }) => engine))];
/** All of them are packages of one installation. */
export const arePeersInstalled = () => existsSync(TRANSFORMERS_MARK);
export const INSTALL_COMMAND = 'node bench/peers/install.mjs transformers';

async function onnxGraph(modelPath: string): Promise<string> {
  const graph = join(modelPath, 'vectors.onnx');
  if (!existsSync(graph)) {
    await output(PYTHON, [join(SOURCES, 'write_encoder_onnx.py'), modelPath, graph]);
  }
  return graph;
}

async function int8Graph(modelPath: string): Promise<string> {
  const quantised = join(modelPath, 'vectors-int8.onnx');
  if (!existsSync(quantised)) {
    const graph = await onnxGraph(modelPath);
    await output(PYTHON, [join(SOURCES, 'write_int8_onnx.py'), graph, quantised]);
  }
  return quantised;
}

/** A process for each engine and precision, which goes both ways. */
export async function startPeers(
  setting: Setting,
  engines: readonly string[],
  say: (line: string) => void,
): Promise<Contestant[]> {
  const contestants: Contestant[] = [];
  for (const peer of PEERS.filter(({ engine }) => engines.includes(engine))) {
    const name = `${peer.engine} ${peer.precision}`;
    say(`starting ${name}`);
    try {
      const started = await start(setting, peer, name);
      contestants.push(...WAYS.map((way) => contestant(started, peer, way)));
    } catch (error) {
      // The others go on without it.
      say((error as Error).message);
    }
  }
  return contestants;
}

async function start(
  { modelPath, threads }: Setting,
  { engine, precision, graphOf }: EmbeddingPeer,
  name: string,
): Promise<PeerProcess> {
  const path = (await graphOf?.(modelPath)) ?? modelPath;
  const program = join(SOURCES, 'embedding_peer.py');
  return PeerProcess.start(name, PYTHON, [program, engine, path, String(threads), precision]);
}

function contestant(peer: PeerProcess, { precision }: EmbeddingPeer, way: Way): Contestant {
  return {
    name: peer.name,
    precision,
    way,
    embed: (drawn, isShown) => {
      const texts = drawn.map(({ tokens }) => tokens);
      return peer.exchange<EmbeddedTexts>({ texts, way, isShown });
    },
    close: () => peer.close(),
  };
}
