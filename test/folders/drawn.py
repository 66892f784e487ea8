"""Small random parts of model folders, made by today's libraries from a seed."""

import random
from pathlib import Path

import torch
from tokenizers import (
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)
from transformers import (
    AutoModel,
    AutoModelForCausalLM,
    AutoModelForSequenceClassification,
    BertTokenizerFast,
    LlamaConfig,
    MistralConfig,
    ModernBertConfig,
    PretrainedConfig,
    PreTrainedTokenizerFast,
    Qwen2Config,
    Qwen3Config,
    RobertaConfig,
    XLMRobertaConfig,
)
from transformers import BertConfig

TEXTS = (
    "Organic argan oil shampoo", "shampoo", "Red Running Shoes, 42", "Crème brûlée body lotion",
    "有机护发油 洗发水", "Увлажняющий крем", "two  spaces and\ttabs", "50% off (new)!",
)
VOCABULARY = 190
CHAT = "{% for m in messages %}<s>{{ m['content'] }}</s>{% endfor %}"
ENCODERS = {"bert": BertConfig, "roberta": RobertaConfig, "xlm-roberta": XLMRobertaConfig,
            "modernbert": ModernBertConfig}
DECODERS = {"qwen3": Qwen3Config, "qwen2": Qwen2Config, "llama": LlamaConfig,
            "mistral": MistralConfig}
#: Settings of configurations that change numbers, some of which are not served.
TWISTS = {
    "bert": [{"hidden_act": "relu"}, {"layer_norm_eps": 1e-6}, {"type_vocab_size": 1},
             {"position_embedding_type": "relative_key"}, {"is_decoder": True},
             {"hidden_act": "gelu_new"}],
    "roberta": [{"layer_norm_eps": 1e-6}, {"hidden_act": "silu"}, {"pad_token_id": 0}],
    "xlm-roberta": [{"layer_norm_eps": 1e-6}, {"pad_token_id": 3}],
    "modernbert": [{"norm_bias": True}, {"mlp_bias": True}, {"global_attn_every_n_layers": 2},
                   {"local_attention": 6}, {"hidden_activation": "silu"}, {"norm_eps": 1e-3}],
    "qwen3": [{"attention_bias": True}, {"is_causal": False}, {"head_dim": 20},
              {"rms_norm_eps": 1e-3}, {"rope_parameters": {"rope_type": "linear", "factor": 4.0,
                                                           "rope_theta": 10000.0}},
              {"use_bidirectional_attention": True}, {"hidden_act": "gelu"},
              {"use_sliding_window": True, "sliding_window": 64, "max_window_layers": 0}],
    "qwen2": [{"rms_norm_eps": 1e-3}, {"is_causal": False},
              {"rope_parameters": {"rope_type": "yarn", "factor": 4.0, "rope_theta": 10000.0,
                                   "original_max_position_embeddings": 64}}],
    "llama": [{"attention_bias": True}, {"mlp_bias": True}, {"is_causal": False},
              {"head_dim": 24},
              {"rope_parameters": {"rope_type": "dynamic", "factor": 2.0,
                                   "rope_theta": 10000.0}},
              {"rope_parameters": {
                  "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0,
                  "high_freq_factor": 4.0, "original_max_position_embeddings": 64,
                  "rope_theta": 10000.0}}],
    "mistral": [{"sliding_window": None}, {"sliding_window": 100}, {"is_causal": False},
                {"head_dim": 24}],
}


def config_of(rng: random.Random, family: str, twist: bool, **fields) -> PretrainedConfig:
    """A configuration of a family; some of its settings are drawn."""
    heads = rng.choice((2, 4))
    common = {"vocab_size": VOCABULARY, "hidden_size": heads * rng.choice((8, 12)),
              "num_hidden_layers": rng.choice((1, 2, 3)), "num_attention_heads": heads,
              "intermediate_size": rng.choice((40, 52)), "max_position_embeddings": 160}
    if family in DECODERS:
        common |= {"num_key_value_heads": rng.choice((1, heads)), "pad_token_id": 0,
                   "bos_token_id": 1, "eos_token_id": 2, "head_dim": common["hidden_size"] // heads,
                   "tie_word_embeddings": rng.random() < 0.5}
        if family == "qwen2":
            del common["head_dim"]
    elif family == "modernbert":
        common |= {"pad_token_id": 0, "cls_token_id": 1, "sep_token_id": 2, "bos_token_id": 1,
                   "eos_token_id": 2, "local_attention": 32}
    else:
        common["pad_token_id"] = 0 if family == "bert" else 1
    if twist:
        common |= rng.choice(TWISTS[family])
    return {**ENCODERS, **DECODERS}[family](**common | fields)


def randomised(model: torch.nn.Module, seed: int) -> torch.nn.Module:
    """The model with numbers that no initialisation gives: biases and norms count."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, value in model.named_parameters():
            noise = torch.randn(value.shape, generator=generator, dtype=torch.float32)
            if value.dim() == 1:
                noise = noise * 0.2 + (0.0 if name.endswith("bias") else 1.0)
            else:
                noise = noise * (0.6 if "embed" in name else 1.3 / value.shape[-1] ** 0.5)
            value.copy_(noise)
    return model.eval()


def model_of(rng: random.Random, config: PretrainedConfig, task: str) -> torch.nn.Module:
    """A model as `task` loads it: rows, generation or classification."""
    kind = {"rows": AutoModel, "generation": AutoModelForCausalLM,
            "classification": AutoModelForSequenceClassification}[task]
    return randomised(kind.from_config(config), rng.randrange(1 << 30))


def tokenizer_of(rng: random.Random, family: str, folder: Path):
    """Saves a tokenizer of the family's form, of a class that is drawn."""
    if family == "bert":
        made, kinds = _wordpiece(), [BertTokenizerFast, PreTrainedTokenizerFast]
    elif family == "xlm-roberta":
        made, kinds = _unigram(), [PreTrainedTokenizerFast]
    else:
        made, kinds = _bpe(family), [PreTrainedTokenizerFast]
    lower = getattr(made.normalizer, "lowercase", True)
    special = ({"pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]",
                "unk_token": "[UNK]"} if family in ("bert", "modernbert")
               else {"pad_token": "<pad>", "bos_token": "<s>", "eos_token": "</s>"})
    kind = rng.choice(kinds)
    fields = {"do_lower_case": lower} if kind is BertTokenizerFast else {}
    if rng.random() < 0.3:
        fields["model_max_length"] = rng.choice((24, 64))
    if kind is PreTrainedTokenizerFast and family == "bert" and rng.random() < 0.5:
        fields["model_input_names"] = ["input_ids", "token_type_ids", "attention_mask"]
    if kind is BertTokenizerFast:
        fields["vocab"] = made.get_vocab()
        saved = kind(**special, **fields)
    else:
        saved = kind(tokenizer_object=made, **special, **fields)
    if family in DECODERS and rng.random() < 0.15:
        saved.chat_template = CHAT
    saved.save_pretrained(folder)
    return saved


def _corpus() -> list[str]:
    return [*TEXTS, "the quick brown fox jumps over the lazy dog", "0123456789 .,;:!?()"] * 3


def _wordpiece() -> Tokenizer:
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    made = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.decoder = decoders.WordPiece()
    made.train_from_iterator(
        _corpus(), trainers.WordPieceTrainer(vocab_size=VOCABULARY, special_tokens=special))
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    return made


def _unigram() -> Tokenizer:
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    made = Tokenizer(models.Unigram())
    made.normalizer = normalizers.NFKC()
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.decoder = decoders.Metaspace()
    made.train_from_iterator(_corpus(), trainers.UnigramTrainer(
        vocab_size=VOCABULARY, special_tokens=special, unk_token="<unk>"))
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>",
        special_tokens=[("<s>", 0), ("</s>", 2)])
    return made


def _bpe(family: str) -> Tokenizer:
    modern = family == "modernbert"
    special = ["[PAD]", "[CLS]", "[SEP]"] if modern else ["<pad>", "<s>", "</s>"]
    if family == "roberta":
        special = ["<s>", "<pad>", "</s>"]
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    made.train_from_iterator(_corpus(), trainers.BpeTrainer(
        vocab_size=VOCABULARY, special_tokens=special, show_progress=False,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet())[:VOCABULARY - 20]))
    first, last = ("[CLS]", "[SEP]") if modern else ("<s>", "</s>")
    between = {"roberta": f"{last} {last}", "modernbert": last}.get(family, last)
    single = f"{first} $A {last}" if family in ENCODERS else f"$A {last}"
    pair = f"{first} $A {between} $B {last}" if family in ENCODERS else "$A $B"
    names = (first, last)
    made.post_processor = processors.TemplateProcessing(
        single=single, pair=pair,
        special_tokens=[(token, made.token_to_id(token)) for token in names])
    return made
