"""Edits of people behind the back of the library that saved a folder."""

import json
import random
from pathlib import Path

from drawn import CHAT
from peft import LoraConfig

PROMPTS = {"query": "query: ", "passage": "Text of a shop: "}
IDENTITY = "torch.nn.modules.linear.Identity"
TANH = "torch.nn.modules.activation.Tanh"
LINEAR = {"rope_type": "linear", "factor": 2.0, "rope_theta": 10000.0}

#: Members of each file that are changed by hand; one that is None goes.
CHANGES = {
    "tokenizer_config.json": [
        {"do_lower_case": False}, {"do_lower_case": True}, {"strip_accents": True},
        {"tokenize_chinese_chars": False}, {"truncation_side": "left"}, {"padding_side": "left"},
        {"add_prefix_space": True}, {"add_eos_token": True}, {"add_bos_token": True},
        {"tokenizer_class": None}, {"model_max_length": 12}, {"split_special_tokens": True},
        {"tokenizer_class": "TokenizersBackend"}, {"tokenizer_class": "PreTrainedTokenizerFast"},
        {"tokenizer_class": "BertTokenizer"}, {"tokenizer_class": "RobertaTokenizer"},
        {"tokenizer_class": "Qwen2Tokenizer"}, {"tokenizer_class": "LlamaTokenizer"},
        {"tokenizer_class": "GPT2Tokenizer"}, {"tokenizer_class": "DistilBertTokenizer"},
        {"tokenizer_class": "XLMRobertaTokenizer"}, {"chat_template": CHAT},
        {"model_input_names": ["input_ids", "attention_mask"]}, {"unk_token": "shampoo"},
        {"additional_special_tokens": ["argan"]}, {"extra_special_tokens": ["Red"]},
        {"pad_token": "oil"}, {"cls_token": "</s>"}, {"eos_token": "[SEP]"}, {"legacy": True},
        {"sep_token": "shampoo"}, {"bos_token": "</s>"}, {"my_own_setting": 1}],
    "sentence_bert_config.json": [
        {"do_lower_case": True}, {"max_seq_length": 10}, {"query_length": 5},
        {"processing_kwargs": {"text": {"max_length": 6, "truncation": True}}},
        {"transformer_task": "fill-mask"}, {"module_output_name": "sentence_embedding"}],
    "config_sentence_transformers.json": [
        {"default_prompt_name": "query", "prompts": PROMPTS}, {"truncate_dim": 10},
        {"activation_fn": TANH}, {"similarity_fn_name": "dot"}, {"model_type": None},
        {"prompts": PROMPTS}, {"default_prompt_name": "document", "prompts": {"document": "d: "}}],
    "tokenizer.json": [
        {"truncation": {"direction": side, "max_length": length, "strategy": "LongestFirst",
                        "stride": stride}}
        for side in ("Left", "Right") for length in (6, 400) for stride in (0, 2)],
    "config.json": [
        {"architectures": ["BertModel", "Qwen3ForCausalLM"]}, {"architectures": []},
        {"eos_token_id": 90000}, {"is_causal": False}, {"architectures": None},
        {"hidden_act": "relu"}, {"dtype": "float16"},
        {"sentence_transformers": {"activation_fn": IDENTITY}}, {"rope_theta": 500.0},
        {"sbert_ce_default_activation_function": TANH}, {"pad_token_id": 5}, {"pad_token_id": None},
        {"attn_logit_softcapping": 2.0}, {"final_logit_softcapping": 2.0}, {"logit_scale": 3.0},
        {"embedding_multiplier": 3.0}, {"residual_multiplier": 0.5}, {"rope_scaling": LINEAR},
        {"partial_rotary_factor": 0.5}, {"sliding_window": 4}, {"use_sliding_window": True},
        {"layer_types": None}, {"max_position_embeddings": 20}, {"use_cache": False},
        {"is_decoder": True}, {"add_cross_attention": True}, {"classifier_pooling": "mean"},
        {"classifier_activation": "silu"}, {"classifier_bias": True}, {"layer_norm_eps": 0.1},
        {"norm_eps": 0.1}, {"position_embedding_type": "relative_key"}, {"head_dim": 4},
        {"attention_bias": True}, {"mlp_bias": True}, {"qkv_bias": False}, {"local_attention": 4},
        {"global_attn_every_n_layers": 1}, {"num_labels": 2}, {"tie_word_embeddings": False},
        {"attention_dropout": 0.5}, {"hidden_activation": "silu"}, {"rms_norm_eps": 0.1},
        {"id2label": {"0": "a", "1": "b"}}, {"chunk_size_feed_forward": 2},
        {"use_bidirectional_attention": True}, {"my_own_setting": 1}, {"decoder_bias": False},
        {"embedding_dropout": 0.5}, {"initializer_range": 9.0}, {"classifier_dropout": 0.7}],
    "1_Pooling/config.json": [
        {"pooling_mode": ["mean", "cls"]}, {"pooling_mode": ["mean"]}, {"include_prompt": False},
        {"pooling_mode": None, "pooling_mode_cls_token": True}, {"pooling_mode": "max"},
        {"pooling_mode": None}],
    "2_Dense/config.json": [
        {"activation_function": IDENTITY}, {"activation_function": "torch.nn.SiLU"},
        {"activation_function": "my.Activation"}, {"module_output_name": "other"},
        {"module_input_name": "token_embeddings"}, {"my_own_setting": 1}],
}
#: Of a decoder that recalls are served by.
DECODER_CHANGES = {"config.json": CHANGES["config.json"] + [
    {"rms_norm_eps": 0.01}, {"tie_word_embeddings": True}, {"tie_word_embeddings": False}]}
GONE = ["modules.json", "sentence_bert_config.json", "config_sentence_transformers.json",
        "tokenizer_config.json", "1_Pooling/config.json"]


def edit(path: Path, **fields) -> None:
    """Members of a JSON file changed; one that is None goes."""
    document = json.loads(path.read_text()) if path.exists() else {}
    document |= fields
    path.write_text(json.dumps({name: value for name, value in document.items()
                                if value is not None}, indent=2))


def spoil(rng: random.Random, folder: Path, kind: str) -> str:
    """Changes something; returns what, for people."""
    chance = rng.random()
    if kind != "decoder" and chance < 0.06:
        LoraConfig(r=2, target_modules=["query", "q_proj", "Wqkv"]).save_pretrained(folder)
        return "an adapter beside"
    if kind != "decoder" and chance < 0.16:
        name = rng.choice([name for name in GONE if (folder / name).exists()] or ["README.md"])
        (folder / name).unlink(missing_ok=True)
        return f"{name} is gone"
    changes = DECODER_CHANGES if kind == "decoder" else CHANGES
    name = rng.choice([name for name in changes if (folder / name).exists()])
    change = rng.choice(changes[name])
    edit(folder / name, **change)
    return f"{name} {json.dumps(change)}"
