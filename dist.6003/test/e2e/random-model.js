/** A servable model folder with seeded random weights: what the process tests serve. */ import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { byteLevelTokenizer, safetensorsHeader, valuesOf } from "../../libs/testing/src/index.js";
export const SMALL = {
    seed: 7,
    layers: 2,
    hidden: 32,
    maxPositions: 512
};
/** Takes seconds for a long history, so that a recall can be caught while it runs. */ export const SLOW = {
    seed: 7,
    layers: 12,
    hidden: 512,
    maxPositions: 8192
};
/** Beams of 512 are full from the third level on, and many SIDs have more than one item. */ export const DEEP = {
    ...SMALL,
    catalogue: {
        levels: 4,
        codes: 16,
        items: 60_000
    }
};
const HEAD_DIM = 16;
const LETTERS = [
    'a',
    'b',
    'c',
    'd'
];
const BRANDS = 10;
const USUAL = {
    levels: 3,
    codes: 8,
    items: 200
};
const BASE_VOCABULARY_MAX = 300;
/** Numerical Recipes' linear congruential generator, as numbers of -1..1. */ function randomNumbers(seed) {
    let state = seed >>> 0;
    return ()=>{
        state = Math.imul(state, 1664525) + 1013904223 >>> 0;
        return state / 2 ** 31 - 1;
    };
}
export const CHOSEN_EXPERTS = 2;
function tensorsOf({ layers, hidden, experts }, vocabulary) {
    const tensors = [
        {
            name: 'model.embed_tokens.weight',
            shape: [
                vocabulary,
                hidden
            ]
        },
        {
            name: 'model.norm.weight',
            shape: [
                hidden
            ]
        }
    ];
    const intermediate = 2 * hidden;
    for(let layer = 0; layer < layers; layer += 1){
        const add = (name, ...shape)=>tensors.push({
                name: `model.layers.${layer}.${name}.weight`,
                shape
            });
        add('input_layernorm', hidden);
        add('post_attention_layernorm', hidden);
        for (const name of [
            'q_proj',
            'k_proj',
            'v_proj',
            'o_proj'
        ]){
            add(`self_attn.${name}`, hidden, hidden);
        }
        add('self_attn.q_norm', HEAD_DIM);
        add('self_attn.k_norm', HEAD_DIM);
        if (experts !== undefined) add('mlp.gate', experts, hidden);
        for(let at = 0; at < (experts ?? 1); at += 1){
            const own = experts === undefined ? 'mlp' : `mlp.experts.${at}`;
            add(`${own}.gate_proj`, intermediate, hidden);
            add(`${own}.up_proj`, intermediate, hidden);
            add(`${own}.down_proj`, hidden, intermediate);
        }
    }
    return tensors;
}
/** Norms are about 1; other values as their width asks for, times `size`. */ export function safetensors(tensors, seed, size = 1) {
    const random = randomNumbers(seed);
    const parts = tensors.map((tensor)=>{
        const { shape } = tensor;
        const scale = size / Math.sqrt(shape.at(-1) ?? 1);
        const isNorm = shape.length === 1;
        const values = Float32Array.from({
            length: valuesOf(tensor)
        }, ()=>isNorm ? 1 + 0.1 * random() : scale * random());
        return Buffer.from(values.buffer);
    });
    return Buffer.concat([
        safetensorsHeader(tensors, 'F32'),
        ...parts
    ]);
}
function config(shape, vocabulary) {
    const mixture = {
        architectures: [
            'Qwen3MoeForCausalLM'
        ],
        model_type: 'qwen3_moe',
        num_experts: shape.experts,
        num_experts_per_tok: CHOSEN_EXPERTS,
        moe_intermediate_size: 2 * shape.hidden,
        norm_topk_prob: true
    };
    const dense = {
        architectures: [
            'Qwen3ForCausalLM'
        ],
        model_type: 'qwen3'
    };
    const family = shape.experts === undefined ? dense : mixture;
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
        rope_theta: 10000
    };
}
const templateOf = ({ levels })=>({
        version: 1,
        name: 'process-tests',
        levels: LETTERS.slice(0, levels).map((letter)=>`<${letter}_{code}>`),
        item: {
            prefix: '',
            suffix: ''
        },
        answer: {
            prefix: '',
            terminal: []
        },
        segments: [
            {
                text: 'history: '
            },
            {
                slot: 'history',
                separator: ', '
            },
            {
                slot: 'scene',
                key: 'daypart',
                before: ' at ',
                after: ''
            },
            {
                text: '\n'
            }
        ]
    });
function catalogueLines(seed, { levels, codes, items }) {
    const random = randomNumbers(seed);
    const code = ()=>Math.floor((random() + 1) / 2 * codes) % codes;
    return Array.from({
        length: items
    }, (_, index)=>{
        const sid = LETTERS.slice(0, levels).map(code);
        const attributes = {
            brand: `brand ${index % BRANDS}`
        };
        const item = {
            item_id: String(index),
            sid,
            title: `Item ${index}`,
            attributes
        };
        return `${JSON.stringify(item)}\n`;
    }).join('');
}
/** A user whose name would act were it taken for markup. */ export const MARKUP_USER = '<img src=x onerror=alert(1)>';
const users = {
    [MARKUP_USER]: {
        behaviours: [
            {
                item_id: '9',
                time: 1
            }
        ]
    },
    1: {
        behaviours: [
            3,
            14,
            15,
            92
        ].map((id, time)=>({
                item_id: String(id),
                time
            }))
    },
    2: {
        behaviours: [
            6,
            53,
            58
        ].map((id, time)=>({
                item_id: String(id),
                time
            }))
    }
};
/** Writes the folder and returns its path. Items are numbered from `0`; users are `1` and `2`. */ export function writeRandomModel(folder, shape) {
    const { catalogue = USUAL } = shape;
    const codes = Array.from({
        length: catalogue.codes
    }, (_, code)=>code);
    const letters = LETTERS.slice(0, catalogue.levels);
    const added = letters.flatMap((letter)=>codes.map((code)=>`<${letter}_${code}>`));
    const vocabulary = BASE_VOCABULARY_MAX + added.length;
    const weights = safetensors(tensorsOf(shape, vocabulary), shape.seed);
    mkdirSync(folder, {
        recursive: true
    });
    const write = (name, content)=>writeFileSync(join(folder, name), content);
    write('config.json', JSON.stringify(config(shape, vocabulary)));
    write('model.safetensors', weights);
    write('tokenizer.json', JSON.stringify(byteLevelTokenizer(added)));
    write('prompt.json', JSON.stringify(templateOf(catalogue)));
    write('catalogue.jsonl', catalogueLines(shape.seed, catalogue));
    write('users.json', JSON.stringify(users));
    return folder;
}

//# sourceMappingURL=random-model.js.map