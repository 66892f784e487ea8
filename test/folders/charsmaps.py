"""`python test/folders/charsmaps.py`: tokenizers with a charsmap, and what they make of texts.

Each file of test/fixtures/charsmaps has a tokenizer.json whose normaliser is a table that
sentencepiece compiled (`nmt_nfkc` is that of XLM-RoBERTa and its descendants, `nmt_nfkc_cf` folds
letters as well), and texts with the tokens of the library in Rust.
"""

import base64
import gzip
import io
import json
import random
from pathlib import Path

import sentencepiece
from sentencepiece import sentencepiece_model_pb2
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

RULES = ("nmt_nfkc", "nmt_nfkc_cf")
PIECES = 320
SEED = 7
DRAWN = 400
OUT = Path(__file__).parents[1] / "fixtures" / "charsmaps"

#: What a charsmap changes, and what it must leave alone.
PARTS = (
    "Red Running Shoes", "Étude café", "argan oil 50 ml", "क्‍ष हिन्दी",
    "र्‍य न्‌", "👨‍👩‍👧‍👦", "❤️‍🔥", "ｶﾞｷﾞ ﾊﾝｶｸ",
    "\u1112\u1161\u11ab\u1100\u1173\u11af", "한글", "\ufeffbegin", "e\u0301",
    "ﬁne ﬂow", "①②③ ㎏ ㍿", "Ｆｕｌｌ　ｗｉｄｔｈ", "ẞ ß İ ı ſ", "ﷺ",
    "\u00a0\u2003\u200b\u200e", "～ ~ ∼", "\t\n", "x\u0007y\u007f",
    "العَرَبِيَّة", "ไทยภาษา", "Ω K Å", "½ ⅓ x²", "\u2028\u2029", "🇩🇪🇫🇷", "👍🏽",
    "\ud7a3\u11a8", "▁ _", "\ufffd", "a\u0300\u0316b", "…—–‑", "«“”»", "有机护发油",
    "Увлажняющий Крем",
)


def texts() -> list[str]:
    """The parts, and mixtures of them with letters of all planes."""
    rng = random.Random(SEED)
    drawn = list(PARTS)
    while len(drawn) < len(PARTS) + DRAWN:
        parts = rng.choices(PARTS, k=rng.randint(1, 4))
        letters = [chr(rng.choice((rng.randint(32, 0x2fff), rng.randint(0x3000, 0xd7ff),
                                   rng.randint(0xf900, 0xffef), rng.randint(0x1f300, 0x1faff))))
                   for _ in range(rng.randint(0, 4))]
        drawn.append(rng.choice(("", " ")).join(parts + letters))
    return drawn


def tokenizer_of(rule: str) -> Tokenizer:
    """As the converters of transformers write one for XLM-RoBERTa."""
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(list(PARTS) * 20), model_writer=written, vocab_size=PIECES,
        normalization_rule_name=rule, hard_vocab_limit=False, minloglevel=2)
    trained = sentencepiece_model_pb2.ModelProto()
    trained.ParseFromString(written.getvalue())
    special = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0)]
    pieces = [(piece.piece, piece.score) for piece in trained.pieces[3:]]
    made = Tokenizer(models.Unigram([*special, *pieces], unk_id=3))
    charsmap = trained.normalizer_spec.precompiled_charsmap
    made.normalizer = normalizers.Sequence([
        normalizers.Precompiled(charsmap), normalizers.Replace(" {2,}", " ")])
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>",
        special_tokens=[("<s>", 0), ("</s>", 2)])
    made.add_special_tokens([token for token, _ in special])
    assert base64.b64encode(charsmap).decode() in made.to_str()
    return made


def main() -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    for rule in RULES:
        tokenizer = tokenizer_of(rule)
        cases = [{"text": text, "tokens": tokenizer.encode(text).ids} for text in texts()]
        document = {"tokenizer": json.loads(tokenizer.to_str()), "cases": cases}
        content = json.dumps(document, ensure_ascii=True).encode()
        (OUT / f"{rule}.json.gz").write_bytes(gzip.compress(content, mtime=0))
        print(f"{rule}: {len(cases)} texts")


if __name__ == "__main__":
    main()
