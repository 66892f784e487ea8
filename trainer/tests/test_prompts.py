"""Prompts of fine-tuning are those that are served, or the template is refused."""

import json
from pathlib import Path

import pytest
from tokenizers.pre_tokenizers import ByteLevel

from trainer.errors import InputError
from trainer.flags import check_shape, writable_folder
from trainer.prompts import PromptFolder, read_prompt_folder
from trainer.tokens import BOS, Vocabulary, build_tokenizer

DEMO = Path(__file__).resolve().parents[2] / "models" / "demo"


@pytest.mark.parametrize("change, where", [
    ({"item": {"prefix": "<i>", "suffix": ""}}, "item.prefix"),
    ({"answer": {"prefix": "<begin>"}}, "answer.prefix"),
    ({"answer": {"terminal": ["<end>"]}}, "answer.terminal"),
    ({"levels": [{"base": 256}, "<b_{code}>", "<c_{code}>"]}, r"levels\[0\]"),
    ({"segments": [{"slot": "history", "actions": ["click"]}]}, r"segments\[0\].actions"),
    ({"segments": [{"slot": "history", "timeGaps": []}]}, r"segments\[0\].timeGaps"),
    ({"segments": [{"slot": "history"}, {"slot": "history"}]}, "one history"),
])
def test_a_template_that_is_served_otherwise_is_refused(tmp_path, change, where):
    document = json.loads((DEMO / "prompt.json").read_text()) | change
    for name in ("tokenizer.json", "catalogue.jsonl"):
        (tmp_path / name).write_text((DEMO / name).read_text())
    (tmp_path / "prompt.json").write_text(json.dumps(document))
    with pytest.raises(InputError, match=where):
        read_prompt_folder(tmp_path)


@pytest.mark.parametrize("count, shown", [(3, 3), (20, 20), (21, 11), (30, 20), (31, 11), (45, 15)])
def test_a_history_is_cut_in_whole_steps_as_it_is_served(count, shown):
    items = {str(i): [i] for i in range(50)}
    prompts = PromptFolder([0], [9], items, max_items=20, trim_step=10)
    row = prompts.row([str(i) for i in range(count)], "49")
    assert row.tokens == [0, *range(count - shown, count), 9, 49]


def test_a_prompt_has_no_more_tokens_than_it_may():
    items = {str(i): [i, i] for i in range(50)}
    prompts = PromptFolder([0], [9], items, max_items=20, trim_step=5, max_tokens=30)
    assert len(prompts.row([str(i) for i in range(20)], "1").tokens) == 2 + 2 * 10 + 2


def test_a_tokenizer_of_many_codes_is_built_at_once():
    codes = [f"<a_{code}>" for code in range(60_000)]
    alphabet = sorted(ByteLevel.alphabet())
    vocabulary = Vocabulary([*alphabet, BOS, *codes], [], [], [])
    tokenizer = build_tokenizer(vocabulary)
    assert tokenizer.encode("<a_59999>").ids == [len(alphabet) + 60_000]


def test_flags_are_checked_against_each_other(tmp_path):
    check_shape(6, 2, 32)
    with pytest.raises(InputError, match="kv-heads"):
        check_shape(5, 2, 32)
    with pytest.raises(InputError, match="head-dim"):
        check_shape(6, 2, 7)
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(InputError, match="--out"):
        writable_folder(str(file))
    assert writable_folder(str(tmp_path / "a" / "b")).is_dir()
