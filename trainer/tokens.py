"""The vocabulary: byte-level base, control tokens, scene and profile tokens, level tokens."""

from dataclasses import dataclass

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from tokenizers.pre_tokenizers import ByteLevel

from .data import SidIndex
from .errors import InputError

# Each is a row of the embedding, whether it occurs or not.
MAX_CODE_TOKENS = 1 << 20

BOS, EOS, PAD = "<|bos|>", "<|eos|>", "<|pad|>"


@dataclass(frozen=True)
class Vocabulary:
    """Texts in id order, and the token id of each (level, code)."""

    texts: list[str]
    level_tokens: list[dict[int, int]]
    patterns: list[str]
    extra: list[str]

    @property
    def size(self) -> int:
        return len(self.texts)

    def id_of(self, text: str) -> int:
        return self.texts.index(text)

    def item_tokens(self, sid: tuple[int, ...]) -> list[int]:
        return [self.level_tokens[level][code] for level, code in enumerate(sid)]


def build_vocabulary(index: SidIndex, extra: list[str] | None = None) -> Vocabulary:
    """Orders the tokens.

    Codes given as integers get ids by level and code. Tokens named by the index get ids in
    sorted string order and only those present exist (what MiniOneRec does), so there a
    token's id is not base plus code.
    """
    extra = extra or []
    codes = sum(index.level_sizes())
    if not index.from_tokens and codes > MAX_CODE_TOKENS:
        raise InputError("index", f"at most {MAX_CODE_TOKENS} codes of all levels, the highest of "
                         "each counted", codes)
    texts = sorted(ByteLevel.alphabet()) + [BOS, EOS, PAD] + extra
    if index.from_tokens:
        present = {index.patterns[level].format(code=code)
                   for sid in index.codes.values() for level, code in enumerate(sid)}
        texts += sorted(present)
    else:
        for level, size in enumerate(index.level_sizes()):
            texts += [index.patterns[level].format(code=code) for code in range(size)]
    ids = {text: i for i, text in enumerate(texts)}
    if len(ids) != len(texts):
        raise ValueError("two tokens of the vocabulary have one text")
    level_tokens: list[dict[int, int]] = []
    for level, size in enumerate(index.level_sizes()):
        named = ((code, index.patterns[level].format(code=code)) for code in range(size))
        level_tokens.append({code: ids[text] for code, text in named if text in ids})
    return Vocabulary(texts, level_tokens, list(index.patterns), list(extra))


def extend_vocabulary(base: Tokenizer, index: SidIndex,
                      extra: list[str] | None = None) -> Vocabulary:
    """The vocabulary of a checkpoint, and behind it what it lacks: control tokens, `extra` and
    codes."""
    added = [BOS, EOS, PAD, *(extra or [])]
    for level, size in enumerate(index.level_sizes()):
        added += [index.patterns[level].format(code=code) for code in range(size)]
    known = base.get_vocab(with_added_tokens=True)
    size = max(known.values()) + 1
    texts = [f"<|unused_{i}|>" for i in range(size)]
    for text, place in known.items():
        texts[place] = text
    texts += [text for text in added if text not in known]
    ids = {text: place for place, text in enumerate(texts)}
    level_tokens = [{code: ids[index.patterns[level].format(code=code)] for code in range(count)}
                    for level, count in enumerate(index.level_sizes())]
    return Vocabulary(texts, level_tokens, list(index.patterns), list(extra or []))


def extend_tokenizer(base: Tokenizer, vocabulary: Vocabulary) -> Tokenizer:
    """`base` with the tokens that it lacks; ids as `vocabulary` has them."""
    size = max(base.get_vocab(with_added_tokens=True).values()) + 1
    control = {BOS, EOS, PAD}
    base.add_tokens([AddedToken(text, normalized=False, special=text in control)
                     for text in vocabulary.texts[size:]])
    for place, text in enumerate(vocabulary.texts[size:], size):
        if base.token_to_id(text) != place:
            raise InputError(f"tokenizer.json: {text}", f"id {place}", base.token_to_id(text))
    return base


def build_tokenizer(vocabulary: Vocabulary) -> Tokenizer:
    """Byte-level BPE without merges; all tokens after the bytes are added tokens."""
    alphabet_size = len(ByteLevel.alphabet())
    base = {text: i for i, text in enumerate(vocabulary.texts[:alphabet_size])}
    tokenizer = Tokenizer(models.BPE(vocab=base, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    control = {BOS, EOS, PAD}
    # All at once: each call builds anew what finds the tokens in a text.
    tokenizer.add_tokens([AddedToken(text, normalized=False, special=text in control)
                          for text in vocabulary.texts[alphabet_size:]])
    for i, text in enumerate(vocabulary.texts):
        if tokenizer.token_to_id(text) != i:
            raise ValueError(f"token {text!r} has id {tokenizer.token_to_id(text)}, not {i}")
    return tokenizer


def tokenizer_config(max_length: int) -> dict[str, object]:
    """Files beside tokenizer.json that transformers reads."""
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": BOS, "eos_token": EOS, "pad_token": PAD,
        "model_max_length": max_length, "clean_up_tokenization_spaces": False,
        "add_bos_token": False,
    }


def tokenizer_of(vocabulary: Vocabulary, base: Tokenizer | None = None) -> Tokenizer:
    """That of `base`, extended, where there is one."""
    return extend_tokenizer(base, vocabulary) if base else build_tokenizer(vocabulary)
