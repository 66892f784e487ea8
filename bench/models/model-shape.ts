interface Mixture {
  readonly experts: number;
  readonly chosen: number;
  /** Inner numbers of an expert. */
  readonly size: number;
}

/** A decoder of the Qwen3 family as the benchmark makes it: tied embeddings, random weights. */
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
} as const satisfies Readonly<Record<string, ModelShape>>;

/** Two layers of Qwen3-30B-A3B, and as many that are as large as what a row of it goes through. */
export const AS_ACTIVE: ModelShape = {
  name: 'qwen3-3b-2',
  layers: 2,
  hidden: 2048,
  heads: 32,
  kvHeads: 4,
  headDim: 128,
  inner: 6144,
};
export const MIXTURE: ModelShape = {
  ...AS_ACTIVE,
  name: 'qwen3-30b-a3b-2',
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

export interface TensorShape {
  readonly name: string;
  /** Rows and columns of a matrix, or of several, or the length of a vector. */
  readonly shape: readonly number[];
  /** Standard deviation; 0 for the weights of a norm, which are near one. */
  readonly deviation: number;
}

/**
 * Every tensor in the names of Hugging Face. Projections keep the scale of what they read; those
 * that write to the residual stream are divided by its depth, so that activations stay near one
 * and logits spread over a few units, as in a trained model.
 */
export function tensorsOf(shape: ModelShape): TensorShape[] {
  const { layers, hidden, inner, headDim } = shape;
  const queries = shape.heads * headDim;
  const keys = shape.kvHeads * headDim;
  const residual = 1 / Math.sqrt(2 * layers);
  const matrix = (name: string, rows: number, columns: number, gain = 1): TensorShape => ({
    name: `${name}.weight`,
    shape: [rows, columns],
    deviation: gain / Math.sqrt(columns),
  });
  const norm = (name: string, length: number): TensorShape => ({
    name: `${name}.weight`,
    shape: [length],
    deviation: 0,
  });
  const dense = (prefix: string): TensorShape[] => [
    matrix(`${prefix}.gate_proj`, inner, hidden),
    matrix(`${prefix}.up_proj`, inner, hidden),
    matrix(`${prefix}.down_proj`, hidden, inner, residual),
  ];
  const mixture = (prefix: string, { experts, size }: Mixture): TensorShape[] => {
    const all = (name: string, rows: number, columns: number, gain: number): TensorShape => ({
      name: `${prefix}.experts.${name}`,
      shape: [experts, rows, columns],
      deviation: gain / Math.sqrt(columns),
    });
    return [
      matrix(`${prefix}.gate`, experts, hidden),
      all('gate_up_proj', 2 * size, hidden, 1),
      all('down_proj', hidden, size, residual),
    ];
  };
  const layer = (at: number): TensorShape[] => {
    const prefix = `model.layers.${at}`;
    return [
      norm(`${prefix}.input_layernorm`, hidden),
      matrix(`${prefix}.self_attn.q_proj`, queries, hidden),
      matrix(`${prefix}.self_attn.k_proj`, keys, hidden),
      matrix(`${prefix}.self_attn.v_proj`, keys, hidden),
      matrix(`${prefix}.self_attn.o_proj`, hidden, queries, residual),
      norm(`${prefix}.self_attn.q_norm`, headDim),
      norm(`${prefix}.self_attn.k_norm`, headDim),
      norm(`${prefix}.post_attention_layernorm`, hidden),
      ...(shape.mixture ? mixture(`${prefix}.mlp`, shape.mixture) : dense(`${prefix}.mlp`)),
    ];
  };
  return [
    matrix('model.embed_tokens', shape.vocabulary ?? VOCABULARY, hidden, LOGIT_SPREAD),
    ...Array.from({ length: layers }, (_, at) => layer(at)).flat(),
    norm('model.norm', hidden),
  ];
}

/** Standard deviation of the logits over the vocabulary. */
const LOGIT_SPREAD = 2.5;

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

function familyOf({ mixture }: ModelShape): object {
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
