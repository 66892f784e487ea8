import { join } from 'node:path';
import { readRegular, textOf } from '@tessera/files';

const FILE = 'config.json';
const FILE_BYTES_MAX = 16 << 20;

/** Fields of config.json that the engine reads, of whatever family: done, or refused by name. */
export const READ_FIELDS: ReadonlySet<string> = new Set([
  ...['model_type', 'architectures', 'vocab_size', 'hidden_size', 'num_hidden_layers', 'head_dim'],
  ...['num_attention_heads', 'num_key_value_heads', 'intermediate_size', 'max_position_embeddings'],
  ...['hidden_act', 'hidden_activation', 'rms_norm_eps', 'layer_norm_eps', 'norm_eps', 'norm_bias'],
  ...['attention_bias', 'mlp_bias', 'qkv_bias', 'clip_qkv', 'tie_word_embeddings', 'is_causal'],
  ...['use_bidirectional_attention', 'sliding_window', 'use_sliding_window', 'max_window_layers'],
  ...['layer_types', 'rope_theta', 'rope_scaling', 'rope_parameters', 'partial_rotary_factor'],
  ...['global_rope_theta', 'local_rope_theta', 'original_max_position_embeddings', 'bos_token_id'],
  ...['local_attention', 'global_attn_every_n_layers', 'type_vocab_size', 'is_decoder'],
  ...['position_embedding_type', 'add_cross_attention', 'pad_token_id', 'eos_token_id', 'dtype'],
  ...['torch_dtype', 'quantization_config', 'quantization', 'num_experts', 'num_local_experts'],
  ...['num_experts_per_tok', 'norm_topk_prob', 'moe_intermediate_size', 'decoder_sparse_step'],
  ...['shared_expert_intermediate_size', 'mlp_only_layers', 'classifier_pooling'],
  ...['classifier_activation', 'classifier_bias', 'sentence_transformers'],
  ...['sbert_ce_default_activation_function', 'text_config', 'attn_output_gate'],
  ...['full_attention_interval', 'linear_num_key_heads', 'linear_num_value_heads'],
  ...['linear_key_head_dim', 'linear_value_head_dim', 'linear_conv_kernel_dim'],
  ...['d_model', 'd_kv', 'd_ff', 'num_heads', 'num_layers', 'num_decoder_layers', 'n_positions'],
  ...['layer_norm_epsilon', 'relative_attention_num_buckets', 'is_encoder_decoder'],
  ...['relative_attention_max_distance', 'feed_forward_proj', 'feed_forward_layers'],
  ...['feed_forward_bias', 'decoder_start_token_id', 'scale_decoder_outputs'],
  ...['dense_act_fn', 'is_gated_act'],
]);

/** Members about training, names and how transformers runs a model: no number depends on them. */
const HARMLESS: ReadonlySet<string> = new Set([
  ...['attention_dropout', 'attention_probs_dropout_prob', 'hidden_dropout_prob', 'mlp_dropout'],
  ...['embedding_dropout', 'classifier_dropout', 'initializer_range', 'initializer_cutoff_factor'],
  ...['id2label', 'label2id', 'num_labels', 'problem_type', 'finetuning_task', '_name_or_path'],
  ...['transformers_version', 'use_cache', 'return_dict', 'output_attentions', 'torchscript'],
  ...['output_hidden_states', 'output_router_logits', 'router_aux_loss_coef', 'pretraining_tp'],
  ...['sparse_prediction', 'sparse_pred_ignore_index', 'decoder_bias', 'reference_compile'],
  ...['deterministic_flash_attn', 'repad_logits_with_grad', 'chunk_size_feed_forward'],
  ...['cls_token_id', 'sep_token_id', 'mask_token_id', 'unk_token_id'],
  ...['tokenizer_class', 'gradient_checkpointing', 'pooler_fc_size', 'directionality'],
  ...['pooler_num_attention_heads', 'pooler_num_fc_layers', 'pooler_size_per_head', 'pooler_type'],
  ...['output_past', 'task_specific_params', 'attn_implementation', 'transformers.js_config'],
  // Parts of a folder beside its decoder: a vision tower, heads that draft tokens.
  ...['vision_config', 'image_token_id', 'video_token_id', 'vision_start_token_id'],
  ...['vision_end_token_id', 'mtp_num_hidden_layers', 'mtp_use_dedicated_embeddings'],
  ...['mamba_ssm_dtype', 'unsloth_version', 'unsloth_fixed', '_attn_implementation'],
  // Training of T5.
  ...['dropout_rate', 'initializer_factor'],
  'gradient_checkpointing_kwargs',
]);

/** Tokens that end or begin an answer of a generator; an answer here has neither. */
const ENDS = ['bos_token_id', 'eos_token_id', 'pad_token_id'];

/**
 * A line with the fields of a model's config.json that are neither read nor known to change
 * nothing, and with tokens that its vocabulary has not; undefined where there is none of both, or
 * no such file.
 */
export async function configNote(folder: string): Promise<string | undefined> {
  const path = join(folder, FILE);
  const whole = await membersOf(path);
  // The part that describes the decoder, of a folder of several models.
  const members = Object.assign({}, whole, whole.text_config);
  const unread = Object.entries(members).filter(
    ([name, value]) => value !== null && !READ_FIELDS.has(name) && !HARMLESS.has(name),
  );
  const size = Number(members.vocab_size);
  const foreign = ENDS.filter((name) => [members[name]].flat().some((id) => Number(id) >= size));
  const parts = [
    unread.length > 0 ? `fields that are not read: ${unread.map(([name]) => name).join(', ')}` : '',
    foreign.length > 0 ? `${foreign.join(', ')}: no token of the ${size}, and not used` : '',
  ].filter((part) => part !== '');
  return parts.length > 0 ? `${path}: ${parts.join('; ')}` : undefined;
}

/** Empty for a file that is no JSON: opening the model refuses it. */
async function membersOf(path: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    const bytes = await readRegular(path, FILE_BYTES_MAX);
    return Object(JSON.parse(textOf(path, bytes, 'MODEL_INVALID')));
  } catch {
    return {};
  }
}
