import { join } from "node:path";
import { readRegular, textOf } from "../../ops/files/src/index.js";
const FILE = 'config.json';
const FILE_BYTES_MAX = 16 << 20;
/** Fields of config.json that the engine reads, of whatever family: done, or refused by name. */ export const READ_FIELDS = new Set([
    ...[
        'model_type',
        'architectures',
        'vocab_size',
        'hidden_size',
        'num_hidden_layers',
        'head_dim'
    ],
    ...[
        'num_attention_heads',
        'num_key_value_heads',
        'intermediate_size',
        'max_position_embeddings'
    ],
    ...[
        'hidden_act',
        'hidden_activation',
        'rms_norm_eps',
        'layer_norm_eps',
        'norm_eps',
        'norm_bias'
    ],
    ...[
        'attention_bias',
        'mlp_bias',
        'qkv_bias',
        'clip_qkv',
        'tie_word_embeddings',
        'is_causal'
    ],
    ...[
        'use_bidirectional_attention',
        'sliding_window',
        'use_sliding_window',
        'max_window_layers'
    ],
    ...[
        'layer_types',
        'rope_theta',
        'rope_scaling',
        'rope_parameters',
        'partial_rotary_factor'
    ],
    ...[
        'global_rope_theta',
        'local_rope_theta',
        'original_max_position_embeddings',
        'bos_token_id'
    ],
    ...[
        'local_attention',
        'global_attn_every_n_layers',
        'type_vocab_size',
        'is_decoder'
    ],
    ...[
        'position_embedding_type',
        'add_cross_attention',
        'pad_token_id',
        'eos_token_id',
        'dtype'
    ],
    ...[
        'torch_dtype',
        'quantization_config',
        'quantization',
        'num_experts',
        'num_local_experts'
    ],
    ...[
        'num_experts_per_tok',
        'norm_topk_prob',
        'moe_intermediate_size',
        'decoder_sparse_step'
    ],
    ...[
        'shared_expert_intermediate_size',
        'mlp_only_layers',
        'classifier_pooling'
    ],
    ...[
        'classifier_activation',
        'classifier_bias',
        'sentence_transformers'
    ],
    'sbert_ce_default_activation_function'
]);
/** Of training, of names, and of how transformers runs a model: they change none of its numbers. */ const HARMLESS = new Set([
    ...[
        'attention_dropout',
        'attention_probs_dropout_prob',
        'hidden_dropout_prob',
        'mlp_dropout'
    ],
    ...[
        'embedding_dropout',
        'classifier_dropout',
        'initializer_range',
        'initializer_cutoff_factor'
    ],
    ...[
        'id2label',
        'label2id',
        'num_labels',
        'problem_type',
        'finetuning_task',
        '_name_or_path'
    ],
    ...[
        'transformers_version',
        'use_cache',
        'return_dict',
        'output_attentions',
        'torchscript'
    ],
    ...[
        'output_hidden_states',
        'output_router_logits',
        'router_aux_loss_coef',
        'pretraining_tp'
    ],
    ...[
        'sparse_prediction',
        'sparse_pred_ignore_index',
        'decoder_bias',
        'reference_compile'
    ],
    ...[
        'deterministic_flash_attn',
        'repad_logits_with_grad',
        'chunk_size_feed_forward'
    ],
    ...[
        'is_encoder_decoder',
        'cls_token_id',
        'sep_token_id',
        'mask_token_id',
        'unk_token_id'
    ],
    ...[
        'tokenizer_class',
        'gradient_checkpointing',
        'pooler_fc_size',
        'directionality'
    ],
    ...[
        'pooler_num_attention_heads',
        'pooler_num_fc_layers',
        'pooler_size_per_head',
        'pooler_type'
    ],
    ...[
        'output_past',
        'task_specific_params',
        'attn_implementation',
        'transformers.js_config'
    ],
    ...[
        'unsloth_version',
        'unsloth_fixed',
        '_attn_implementation',
        'gradient_checkpointing_kwargs'
    ]
]);
/** Tokens that end or begin an answer of a generator; an answer here has neither. */ const ENDS = [
    'bos_token_id',
    'eos_token_id',
    'pad_token_id'
];
/**
 * A line with the fields of a model's config.json that are neither read nor known to change
 * nothing, and with tokens that its vocabulary has not; undefined where there is none of both, or
 * no such file.
 */ export async function configNote(folder) {
    const path = join(folder, FILE);
    const members = await membersOf(path);
    const unread = Object.entries(members).filter(([name, value])=>value !== null && !READ_FIELDS.has(name) && !HARMLESS.has(name));
    const size = Number(members.vocab_size);
    const foreign = ENDS.filter((name)=>[
            members[name]
        ].flat().some((id)=>Number(id) >= size));
    const parts = [
        unread.length > 0 ? `fields that are not read: ${unread.map(([name])=>name).join(', ')}` : '',
        foreign.length > 0 ? `${foreign.join(', ')}: no token of the ${size}, and not used` : ''
    ].filter((part)=>part !== '');
    return parts.length > 0 ? `${path}: ${parts.join('; ')}` : undefined;
}
/** Empty for a file that is no JSON: opening the model refuses it. */ async function membersOf(path) {
    try {
        const bytes = await readRegular(path, FILE_BYTES_MAX);
        return Object(JSON.parse(textOf(path, bytes, 'MODEL_INVALID')));
    } catch  {
        return {};
    }
}

//# sourceMappingURL=config-note.js.map