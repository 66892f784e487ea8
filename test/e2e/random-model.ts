/** A servable model folder with seeded random weights: what the process tests serve. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { byteLevelTokenizer, safetensorsHeader, valuesOf } from '../../libs/testing/src/index.js';

export interface RandomModelShape {
  readonly seed: number;
  readonly layers: number;
  readonly hidden: number;
  readonly maxPositions: number;
  /** Experts of every layer, of which a row chooses two; left out: one network for all rows. */
  readonly experts?: number;
  /** Beside experts: layers but every fourth are gated delta nets (Qwen3-Next). */
  readonly isHybrid?: boolean;
  /** Left out: 200 items of three levels with eight codes each. */
  readonly catalogue?: RandomCatalogueShape;
}

export interface RandomCatalogueShape {
  readonly levels: number;
  readonly codes: number;
  readonly items: number;
}

export const SMALL: RandomModelShape = { seed: 7, layers: 2, hidden: 32, maxPositions: 512 };
/** Takes seconds for a long history, so that a recall can be caught while it runs. */
export const SLOW: RandomModelShape = { seed: 7, layers: 12, hidden: 512, maxPositions: 8192 };

/** Beams of 512 are full from the third level on, and many SIDs have more than one item. */
export const DEEP: RandomModelShape = {
  ...SMALL,
  catalogue: { levels: 4, codes: 16, items: 60_000 },
};

const HEAD_DIM = 16;
const LETTERS = ['a', 'b', 'c', 'd'];
const BRANDS = 10;
const USUAL: RandomCatalogueShape = { levels: 3, codes: 8, items: 200 };
const BASE_VOCABULARY_MAX = 300;

/** Numerical Recipes' linear congruential generator, as numbers of -1..1. */
function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  };
}

export interface Tensor {
  readonly name: string;
  readonly shape: readonly number[];
}

export const CHOSEN_EXPERTS = 2;

const INTERVAL = 4;
const KEY_HEADS = 2;
const VALUE_HEADS = 4;
const TAPS = 4;

const attention = (prefix: string, hidden: number, isHybrid: boolean): Tensor[] => [
  { name: `${prefix}.q_proj.weight`, shape: [isHybrid ? 2 * hidden : hidden, hidden] },
  ...['k_proj', 'v_proj', 'o_proj'].map((name) => ({
    name: `${prefix}.${name}.weight`,
    shape: [hidden, hidden],
  })),
  { name: `${prefix}.q_norm.weight`, shape: [HEAD_DIM] },
  { name: `${prefix}.k_norm.weight`, shape: [HEAD_DIM] },
];

function deltaNet(prefix: string, hidden: number): Tensor[] {
  const [keys, values] = [KEY_HEADS * HEAD_DIM, VALUE_HEADS * HEAD_DIM];
  return [
    { name: `${prefix}.in_proj_qkvz.weight`, shape: [2 * (keys + values), hidden] },
    { name: `${prefix}.in_proj_ba.weight`, shape: [2 * VALUE_HEADS, hidden] },
    { name: `${prefix}.conv1d.weight`, shape: [2 * keys + values, 1, TAPS] },
    { name: `${prefix}.A_log`, shape: [VALUE_HEADS] },
    { name: `${prefix}.dt_bias`, shape: [VALUE_HEADS] },
    { name: `${prefix}.norm.weight`, shape: [HEAD_DIM] },
    { name: `${prefix}.out_proj.weight`, shape: [hidden, values] },
  ];
}

function tensorsOf(shape: RandomModelShape, vocabulary: number): Tensor[] {
  const { layers, hidden, experts, isHybrid = false } = shape;
  const tensors: Tensor[] = [
    { name: 'model.embed_tokens.weight', shape: [vocabulary, hidden] },
    { name: 'model.norm.weight', shape: [hidden] },
  ];
  const intermediate = 2 * hidden;
  for (let layer = 0; layer < layers; layer += 1) {
    const add = (name: string, ...shape: number[]) =>
      tensors.push({ name: `model.layers.${layer}.${name}.weight`, shape });
    add('input_layernorm', hidden);
    add('post_attention_layernorm', hidden);
    const prefix = `model.layers.${layer}`;
    tensors.push(
      ...(isHybrid && (layer + 1) % INTERVAL !== 0
        ? deltaNet(`${prefix}.linear_attn`, hidden)
        : attention(`${prefix}.self_attn`, hidden, isHybrid)),
    );
    if (experts !== undefined) add('mlp.gate', experts, hidden);
    if (isHybrid) {
      add('mlp.shared_expert_gate', 1, hidden);
      add('mlp.shared_expert.gate_proj', hidden, hidden);
      add('mlp.shared_expert.up_proj', hidden, hidden);
      add('mlp.shared_expert.down_proj', hidden, hidden);
    }
    for (let at = 0; at < (experts ?? 1); at += 1) {
      const own = experts === undefined ? 'mlp' : `mlp.experts.${at}`;
      add(`${own}.gate_proj`, intermediate, hidden);
      add(`${own}.up_proj`, intermediate, hidden);
      add(`${own}.down_proj`, hidden, intermediate);
    }
  }
  return tensors;
}

/** Logarithms of rates: of a state more than four fifths are left a token later. */
const SLOW_DECAY = -2;

/** Norms are about 1; other values as their width asks for, times `size`. */
export function safetensors(tensors: readonly Tensor[], seed: number, size = 1): Buffer {
  const random = randomNumbers(seed);
  const parts = tensors.map((tensor) => {
    const { shape, name } = tensor;
    const scale = size / Math.sqrt(shape.at(-1) ?? 1);
    const isNorm = shape.length === 1;
    const mean = name.endsWith('A_log') ? SLOW_DECAY : 1;
    const values = Float32Array.from({ length: valuesOf(tensor) }, () =>
      isNorm ? mean + 0.1 * random() : scale * random(),
    );
    return Buffer.from(values.buffer);
  });
  return Buffer.concat([safetensorsHeader(tensors, 'F32'), ...parts]);
}

function config(shape: RandomModelShape, vocabulary: number): object {
  const mixture = {
    architectures: ['Qwen3MoeForCausalLM'],
    model_type: 'qwen3_moe',
    num_experts: shape.experts,
    num_experts_per_tok: CHOSEN_EXPERTS,
    moe_intermediate_size: 2 * shape.hidden,
    norm_topk_prob: true,
  };
  const hybrid = Object.assign({}, mixture, {
    architectures: ['Qwen3NextForCausalLM'],
    model_type: 'qwen3_next',
    full_attention_interval: INTERVAL,
    linear_conv_kernel_dim: TAPS,
    linear_key_head_dim: HEAD_DIM,
    linear_num_key_heads: KEY_HEADS,
    linear_num_value_heads: VALUE_HEADS,
    linear_value_head_dim: HEAD_DIM,
    shared_expert_intermediate_size: shape.hidden,
  });
  const dense = { architectures: ['Qwen3ForCausalLM'], model_type: 'qwen3' };
  const sparse = shape.isHybrid ? hybrid : mixture;
  const family = shape.experts === undefined ? dense : sparse;
  return {
    ...family,
    hidden_act: 'silu',
    rms_norm_eps: 1e-6,
    max_position_embeddings: shape.maxPositions,
    num_hidden_layers: shape.layers,
    vocab_size: vocabulary,
    hidden_size: shape.hidden,
    intermediate_size: 2 * shape.hidden,
    num_attention_heads: shape.hidden / HEAD_DIM,
    num_key_value_heads: shape.hidden / HEAD_DIM,
    head_dim: HEAD_DIM,
    tie_word_embeddings: true,
    attention_bias: false,
    torch_dtype: 'float32',
    rope_theta: 10000,
  };
}

const templateOf = ({ levels }: RandomCatalogueShape) => ({
  version: 1,
  name: 'process-tests',
  levels: LETTERS.slice(0, levels).map((letter) => `<${letter}_{code}>`),
  item: { prefix: '', suffix: '' },
  answer: { prefix: '', terminal: [] },
  segments: [
    { text: 'history: ' },
    { slot: 'history', separator: ', ' },
    { slot: 'scene', key: 'daypart', before: ' at ', after: '' },
    { text: '\n' },
  ],
});

function catalogueLines(seed: number, { levels, codes, items }: RandomCatalogueShape): string {
  const random = randomNumbers(seed);
  const code = () => Math.floor(((random() + 1) / 2) * codes) % codes;
  return Array.from({ length: items }, (_, index) => {
    const sid = LETTERS.slice(0, levels).map(code);
    const attributes = { brand: `brand ${index % BRANDS}` };
    const item = { item_id: String(index), sid, title: `Item ${index}`, attributes };
    return `${JSON.stringify(item)}\n`;
  }).join('');
}

/** A user whose name would act were it taken for markup. */
export const MARKUP_USER = '<img src=x onerror=alert(1)>';

const users = {
  [MARKUP_USER]: { behaviours: [{ item_id: '9', time: 1 }] },
  1: { behaviours: [3, 14, 15, 92].map((id, time) => ({ item_id: String(id), time })) },
  2: { behaviours: [6, 53, 58].map((id, time) => ({ item_id: String(id), time })) },
};

/** Writes the folder and returns its path. Items are numbered from `0`; users are `1` and `2`. */
export function writeRandomModel(folder: string, shape: RandomModelShape): string {
  const { catalogue = USUAL } = shape;
  const codes = Array.from({ length: catalogue.codes }, (_, code) => code);
  const letters = LETTERS.slice(0, catalogue.levels);
  const added = letters.flatMap((letter) => codes.map((code) => `<${letter}_${code}>`));
  const vocabulary = BASE_VOCABULARY_MAX + added.length;
  const weights = safetensors(tensorsOf(shape, vocabulary), shape.seed);
  mkdirSync(folder, { recursive: true });
  const write = (name: string, content: string | Buffer) =>
    writeFileSync(join(folder, name), content);
  write('config.json', JSON.stringify(config(shape, vocabulary)));
  write('model.safetensors', weights);
  write('tokenizer.json', JSON.stringify(byteLevelTokenizer(added)));
  write('prompt.json', JSON.stringify(templateOf(catalogue)));
  write('catalogue.jsonl', catalogueLines(shape.seed, catalogue));
  write('users.json', JSON.stringify(users));
  return folder;
}
