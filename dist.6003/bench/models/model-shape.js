export const LEVELS = 4;
export const LEVEL_CODES = 4096;
/** The codes' part of a vocabulary: code c of level l is token l * LEVEL_CODES + c. */ export const VOCABULARY = LEVELS * LEVEL_CODES;
export const POSITIONS = 4096;
export const SHAPES = {
    '8x512': {
        name: '8x512',
        layers: 8,
        hidden: 512,
        heads: 8,
        kvHeads: 4,
        headDim: 64,
        inner: 1536
    },
    'qwen3-0.6b': {
        name: 'qwen3-0.6b',
        layers: 28,
        hidden: 1024,
        heads: 16,
        kvHeads: 8,
        headDim: 128,
        inner: 3072
    }
};
/** Two layers of Qwen3-30B-A3B, and as many that are as large as what a row of it goes through. */ export const AS_ACTIVE = {
    name: 'qwen3-3b-2',
    layers: 2,
    hidden: 2048,
    heads: 32,
    kvHeads: 4,
    headDim: 128,
    inner: 6144
};
export const MIXTURE = {
    ...AS_ACTIVE,
    name: 'qwen3-30b-a3b-2',
    mixture: {
        experts: 128,
        chosen: 8,
        size: 768
    }
};
/** Hardly any arithmetic: what is left is the rest of a recall. */ export const TINY = {
    name: 'tiny',
    layers: 1,
    hidden: 32,
    heads: 2,
    kvHeads: 1,
    headDim: 16,
    inner: 32
};
/**
 * Every tensor in the names of Hugging Face. Projections keep the scale of what they read; those
 * that write to the residual stream are divided by its depth, so that activations stay near one
 * and logits spread over a few units, as in a trained model.
 */ export function tensorsOf(shape) {
    const { layers, hidden, inner, headDim } = shape;
    const queries = shape.heads * headDim;
    const keys = shape.kvHeads * headDim;
    const residual = 1 / Math.sqrt(2 * layers);
    const matrix = (name, rows, columns, gain = 1)=>({
            name: `${name}.weight`,
            shape: [
                rows,
                columns
            ],
            deviation: gain / Math.sqrt(columns)
        });
    const norm = (name, length)=>({
            name: `${name}.weight`,
            shape: [
                length
            ],
            deviation: 0
        });
    const dense = (prefix)=>[
            matrix(`${prefix}.gate_proj`, inner, hidden),
            matrix(`${prefix}.up_proj`, inner, hidden),
            matrix(`${prefix}.down_proj`, hidden, inner, residual)
        ];
    const mixture = (prefix, { experts, size })=>{
        const all = (name, rows, columns, gain)=>({
                name: `${prefix}.experts.${name}`,
                shape: [
                    experts,
                    rows,
                    columns
                ],
                deviation: gain / Math.sqrt(columns)
            });
        return [
            matrix(`${prefix}.gate`, experts, hidden),
            all('gate_up_proj', 2 * size, hidden, 1),
            all('down_proj', hidden, size, residual)
        ];
    };
    const layer = (at)=>{
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
            ...shape.mixture ? mixture(`${prefix}.mlp`, shape.mixture) : dense(`${prefix}.mlp`)
        ];
    };
    return [
        matrix('model.embed_tokens', shape.vocabulary ?? VOCABULARY, hidden, LOGIT_SPREAD),
        ...Array.from({
            length: layers
        }, (_, at)=>layer(at)).flat(),
        norm('model.norm', hidden)
    ];
}
/** Standard deviation of the logits over the vocabulary. */ const LOGIT_SPREAD = 2.5;
export function configOf(shape) {
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
        vocab_size: shape.vocabulary ?? VOCABULARY
    };
}
function familyOf({ mixture }) {
    if (mixture === undefined) return {
        architectures: [
            'Qwen3ForCausalLM'
        ],
        model_type: 'qwen3'
    };
    return {
        architectures: [
            'Qwen3MoeForCausalLM'
        ],
        model_type: 'qwen3_moe',
        decoder_sparse_step: 1,
        mlp_only_layers: [],
        moe_intermediate_size: mixture.size,
        norm_topk_prob: true,
        num_experts: mixture.experts,
        num_experts_per_tok: mixture.chosen
    };
}

//# sourceMappingURL=model-shape.js.map