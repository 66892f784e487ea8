interface Mixture {
  readonly experts: number;
  readonly chosen: number;
  /** Inner numbers of an expert. */
  readonly size: number;
}

/** Gated delta nets, in all layers but every fourth. */
interface Delta {
  readonly keyHeads: number;
  readonly valueHeads: number;
  /** Of a head. */
  readonly keyDim: number;
  readonly valueDim: number;
  readonly taps: number;
}

/** A decoder of the Qwen3 families as the benchmark makes it: tied embeddings, random weights. */
export interface ModelShape {
  readonly name: string;
  readonly layers: number;
  readonly hidden: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDim: number;
  readonly inner: number;
  /** Experts of which rows choose some, in the place of the `inner` numbers. */
  readonly mixture?: Mixture;
  readonly delta?: Delta;
  /** Tokens, the codes first; left out: the codes alone. */
  readonly vocabulary?: number;
}

export const LEVELS = 4;
export const LEVEL_CODES = 4096;
/** The codes' part of a vocabulary: code c of level l is token l * LEVEL_CODES + c. */
export const VOCABULARY = LEVELS * LEVEL_CODES;
export const POSITIONS = 4096;

export const SHAPES = {
  '8x512': {
    name: '8x512',
    layers: 8,
    hidden: 512,
    heads: 8,
    kvHeads: 4,
    headDim: 64,
    inner: 1536,
  },
  'qwen3-0.6b': {
    name: 'qwen3-0.6b',
    layers: 28,
    hidden: 1024,
    heads: 16,
    kvHeads: 8,
    headDim: 128,
    inner: 3072,
  },
  'qwen3.5-0.8b': {
    name: 'qwen3.5-0.8b',
    layers: 24,
    hidden: 1024,
    heads: 8,
    kvHeads: 2,
    headDim: 256,
    inner: 3584,
    delta: { keyHeads: 16, valueHeads: 16, keyDim: 128, valueDim: 128, taps: 4 },
    vocabulary: 248_320,
  },
} as const satisfies Readonly<Record<string, ModelShape>>;

/** Two layers of Qwen3-30B-A3B. */
export const MIXTURE: ModelShape = {
  name: 'qwen3-30b-a3b-2',
  layers: 2,
  hidden: 2048,
  heads: 32,
  kvHeads: 4,
  headDim: 128,
  inner: 6144,
  mixture: { experts: 128, chosen: 8, size: 768 },
};

/** Hardly any arithmetic: what is left is the rest of a recall. */
export const TINY: ModelShape = {
  name: 'tiny',
  layers: 1,
  hidden: 32,
  heads: 2,
  kvHeads: 1,
  headDim: 16,
  inner: 32,
};

export type ShapeName = keyof typeof SHAPES;

/** From one layer of attention to the next, of a hybrid. */
const INTERVAL = 4;

function isDelta({ delta }: ModelShape, layer: number): boolean {
  return delta !== undefined && (layer + 1) % INTERVAL !== 0;
}

/** Layers that keep a state in the place of keys and values. */
export function deltaLayers(shape: ModelShape): number {
  return Array.from({ length: shape.layers }, (_, at) => isDelta(shape, at)).filter(Boolean).length;
}

export interface TensorShape {
  readonly name: string;
  /** Rows and columns of a matrix, or of several, or the length of a vector. */
  readonly shape: readonly number[];
  /** Standard deviation around 0; 0 for the weights of a norm, which are near one. */
  readonly deviation: number;
}

/**
 * Every tensor in the names of Hugging Face. Projections keep the scale of what they read; those
 * that write to the residual stream are divided by its depth, so that activations stay near one
 * and logits spread over a few units, as in a trained model.
 */
export function tensorsOf(shape: ModelShape): TensorShape[] {
  const { layers, hidden, vocabulary = VOCABULARY } = shape;
  return [
    matrix('model.embed_tokens', vocabulary, hidden, LOGIT_SPREAD),
    ...Array.from({ length: layers }, (_, at) => layer(shape, at)).flat(),
    norm(shape, 'model.norm', hidden),
  ];
}

/** Standard deviation of the logits over the vocabulary. */
const LOGIT_SPREAD = 2.5;
/** The same of norms' distances from one, and of what the decays of states are made of. */
const NORM_SPREAD = 0.05;
const DECAY_SPREAD = 0.5;

const tensor = (name: string, shape: readonly number[], deviation: number): TensorShape => ({
  name,
  shape,
  deviation,
});

function matrix(name: string, rows: number, columns: number, gain = 1): TensorShape {
  return tensor(`${name}.weight`, [rows, columns], gain / Math.sqrt(columns));
}

/** Norms of hybrids multiply with 1 + weight. */
function norm({ delta }: ModelShape, name: string, length: number): TensorShape {
  return tensor(`${name}.weight`, [length], delta ? NORM_SPREAD : 0);
}

const residual = ({ layers }: ModelShape) => 1 / Math.sqrt(2 * layers);

function layer(shape: ModelShape, at: number): TensorShape[] {
  const prefix = `model.layers.${at}`;
  return [
    norm(shape, `${prefix}.input_layernorm`, shape.hidden),
    ...(shape.delta && isDelta(shape, at)
      ? net(shape, `${prefix}.linear_attn`, shape.delta)
      : attention(shape, `${prefix}.self_attn`)),
    norm(shape, `${prefix}.post_attention_layernorm`, shape.hidden),
    ...(shape.mixture
      ? mixture(shape, `${prefix}.mlp`, shape.mixture)
      : dense(shape, `${prefix}.mlp`)),
  ];
}

function attention(shape: ModelShape, prefix: string): TensorShape[] {
  const { hidden, headDim } = shape;
  const queries = shape.heads * headDim;
  const keys = shape.kvHeads * headDim;
  return [
    // A hybrid's gates lie beside its queries.
    matrix(`${prefix}.q_proj`, shape.delta ? 2 * queries : queries, hidden),
    matrix(`${prefix}.k_proj`, keys, hidden),
    matrix(`${prefix}.v_proj`, keys, hidden),
    matrix(`${prefix}.o_proj`, hidden, queries, residual(shape)),
    norm(shape, `${prefix}.q_norm`, headDim),
    norm(shape, `${prefix}.k_norm`, headDim),
  ];
}

function net(shape: ModelShape, prefix: string, delta: Delta): TensorShape[] {
  const { hidden } = shape;
  const values = delta.valueHeads * delta.valueDim;
  const channels = 2 * delta.keyHeads * delta.keyDim + values;
  return [
    matrix(`${prefix}.in_proj_qkv`, channels, hidden),
    matrix(`${prefix}.in_proj_z`, values, hidden),
    matrix(`${prefix}.in_proj_b`, delta.valueHeads, hidden),
    matrix(`${prefix}.in_proj_a`, delta.valueHeads, hidden),
    tensor(`${prefix}.conv1d.weight`, [channels, 1, delta.taps], 1 / Math.sqrt(delta.taps)),
    tensor(`${prefix}.A_log`, [delta.valueHeads], DECAY_SPREAD),
    tensor(`${prefix}.dt_bias`, [delta.valueHeads], DECAY_SPREAD),
    tensor(`${prefix}.norm.weight`, [delta.valueDim], 0),
    matrix(`${prefix}.out_proj`, hidden, values, residual(shape)),
  ];
}

function dense(shape: ModelShape, prefix: string): TensorShape[] {
  const { hidden, inner } = shape;
  return [
    matrix(`${prefix}.gate_proj`, inner, hidden),
    matrix(`${prefix}.up_proj`, inner, hidden),
    matrix(`${prefix}.down_proj`, hidden, inner, residual(shape)),
  ];
}

function mixture(shape: ModelShape, prefix: string, { experts, size }: Mixture): TensorShape[] {
  const { hidden } = shape;
  const all = (name: string, rows: number, columns: number, gain: number) =>
    tensor(`${prefix}.experts.${name}`, [experts, rows, columns], gain / Math.sqrt(columns));
  return [
    matrix(`${prefix}.gate`, experts, hidden),
    all('gate_up_proj', 2 * size, hidden, 1),
    all('down_proj', hidden, size, residual(shape)),
  ];
}

export function configOf(shape: ModelShape): object {
  return {
    ...familyOf(shape),
    dtype: 'bfloat16',
    attention_bias: false,
    attention_dropout: 0,
    head_dim: shape.headDim,
    hidden_act: 'silu',
    hidden_size: shape.hidden,
    intermediate_size: shape.inner,
    max_position_embeddings: POSITIONS,
    num_attention_heads: shape.heads,
    num_hidden_layers: shape.layers,
    num_key_value_heads: shape.kvHeads,
    rms_norm_eps: 1e-6,
    rope_theta: 1_000_000,
    tie_word_embeddings: true,
    use_cache: true,
    use_sliding_window: false,
    vocab_size: shape.vocabulary ?? VOCABULARY,
  };
}

function familyOf({ mixture, delta }: ModelShape): object {
  if (delta !== undefined) {
    return {
      architectures: ['Qwen3_5ForCausalLM'],
      model_type: 'qwen3_5_text',
      full_attention_interval: INTERVAL,
      linear_conv_kernel_dim: delta.taps,
      linear_key_head_dim: delta.keyDim,
      linear_num_key_heads: delta.keyHeads,
      linear_num_value_heads: delta.valueHeads,
      linear_value_head_dim: delta.valueDim,
      partial_rotary_factor: 0.25,
    };
  }
  if (mixture === undefined) return { architectures: ['Qwen3ForCausalLM'], model_type: 'qwen3' };
  return {
    architectures: ['Qwen3MoeForCausalLM'],
    model_type: 'qwen3_moe',
    decoder_sparse_step: 1,
    mlp_only_layers: [],
    moe_intermediate_size: mixture.size,
    norm_topk_prob: true,
    num_experts: mixture.experts,
    num_experts_per_tok: mixture.chosen,
  };
}
