"""Prompts of training are those that are served, to the token."""

import json
from pathlib import Path

import pytest
from tokenizers import Tokenizer
from tokenizers.pre_tokenizers import ByteLevel

from trainer.errors import InputError
from trainer.flags import check_shape, writable_folder
from trainer.history import Behaviour
from trainer.prompt_fixtures import answer_of, writer_of
from trainer.prompts import PromptItem, PromptWriter
from trainer.template import parse_template, read_template
from trainer.tokens import BOS, Vocabulary, build_tokenizer

ROOT = Path(__file__).resolve().parents[2]
DEMO, FIXTURES = ROOT / "models" / "demo", ROOT / "test" / "fixtures" / "prompts"


def cases():
    for one in json.loads((FIXTURES / "cases.json").read_text()):
        for number, case in enumerate(one["cases"]):
            yield pytest.param(one, case, id=f"{one['template']['name']} {number}")


@pytest.fixture(name="tokenizer", scope="module")
def of_fixtures():
    return Tokenizer.from_file(str(FIXTURES / "tokenizer.json"))


@pytest.mark.parametrize(("one", "case"), list(cases()))
def test_a_prompt_has_the_tokens_that_the_service_writes(one, case, tokenizer):
    """The other side of the fixture: libs/service/prompt/src/trainer-prompts.spec.ts."""
    writer = writer_of(one["template"], tokenizer, one["items"], one["tokensMax"])
    expected = {name: case[name] for name in ("tokens", "shown", "refused") if name in case}
    assert answer_of(writer, case) == expected


@pytest.mark.parametrize(("change", "where"), [
    ({"version": 2}, "version: expected an integer in 1..1"),
    ({"extra": 1}, "extra: expected one of the keys"),
    ({"levels": ["<a>"]}, r"levels\[0\]: expected a text with one"),
    ({"segments": [{"slot": "queue"}]}, r"segments\[0\].slot: expected"),
    ({"segments": [{"slot": "history", "maxItems": 0}]}, r"segments\[0\].maxItems: expected"),
    ({"segments": [{"slot": "scene", "key": "a", "values": {"x": "y"}, "default": "z"}]},
     r"segments\[0\].default: expected one of x"),
    ({"segments": [{"slot": "history", "timeGaps": [
        {"atLeastSeconds": 5, "text": ""}, {"atLeastSeconds": 5, "text": ""}]}]},
     r"timeGaps\[1\]: expected atLeastSeconds in ascending order"),
])
def test_a_template_that_the_service_refuses_is_refused(tmp_path, change, where):
    document = json.loads((DEMO / "prompt.json").read_text()) | change
    (tmp_path / "prompt.json").write_text(json.dumps(document))
    with pytest.raises(InputError, match=where):
        read_template(tmp_path / "prompt.json")


def writer(template, items, tokens_max=1 << 20):
    tokenizer = build_tokenizer(Vocabulary([*sorted(ByteLevel.alphabet()), BOS], [], [], []))
    document = {"version": 1, "name": "t", "levels": ["<a_{code}>"], **template}
    return PromptWriter(parse_template(document), tokenizer, items, tokens_max)


@pytest.mark.parametrize("count, shown", [(3, 3), (20, 20), (21, 11), (30, 20), (31, 11), (45, 15)])
def test_a_history_is_cut_in_whole_steps_as_it_is_served(count, shown):
    items = {str(i): PromptItem((i,)) for i in range(50)}
    template = {"segments": [{"slot": "history", "maxItems": 20}], "trimStep": 10}
    history = [Behaviour(str(i)) for i in range(count)]
    row, _ = writer(template, items).row({}, history, Behaviour("49"), lambda _: False)
    assert row.tokens == [*range(count - shown, count), 49]
    assert row.counted == [False] * shown + [True]


@pytest.mark.parametrize("count, shown", [(5, 5), (9, 5), (10, 5), (15, 5), (16, 6)])
def test_items_go_one_by_one_where_no_step_leaves_any(count, shown):
    items = {str(i): PromptItem((i,)) for i in range(50)}
    template = {"segments": [{"slot": "history"}], "trimStep": 10}
    history = [Behaviour(str(i)) for i in range(count)]
    prompt = writer(template, items, 6 if count > 15 else 5).prompt({}, {}, history)
    assert prompt.tokens == [*range(count - shown, count)]


def test_of_a_row_the_loss_counts_the_answer_and_what_counts_of_the_history():
    items = {str(i): PromptItem((1000 + i, 2000 + i)) for i in range(5)}
    template = {"segments": [{"text": BOS}, {"slot": "history", "separator": ","}]}
    history = [Behaviour("0", action="view"), Behaviour("1", action="click")]
    row, prompt = writer(template, items).row(
        {}, history, Behaviour("2"), lambda one: one.action == "click")
    comma, bos = row.tokens[3], row.tokens[0]
    assert row.tokens == [bos, 1000, 2000, comma, 1001, 2001, 1002, 2002]
    assert row.counted == [False] * 4 + [True] * 4
    assert [shown.place for shown in prompt.shown] == [0, 1]


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
