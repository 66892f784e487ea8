"""Behaviours in, rows out: those that are learnt, and those that are refused."""

import json
import re
import sys
from pathlib import Path

import pytest
from tokenizers.pre_tokenizers import ByteLevel

from trainer.__main__ import main
from trainer.behaviours import read_file, recent_from
from trainer.errors import InputError
from trainer.finetune import rows_of
from trainer.history import Behaviour, User
from trainer.prompts import PromptWriter, read_prompt_folder
from trainer.tokens import Vocabulary, build_tokenizer
from trainer.trained_template import check_users

DEMO = Path(__file__).resolve().parents[2] / "models" / "demo"


def written(folder: Path, *rows: object) -> Path:
    path = folder / "behaviours.jsonl"
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n"
                            for row in rows))
    return path


def test_behaviours_are_ordered_by_time_and_kept_by_user(tmp_path):
    path = written(tmp_path, {"user_id": "a", "item_id": "2", "time_ms": 2000, "action": "buy",
                              "scene": {"page": "home"}},
                   {"user_id": "a", "item_id": 1, "time_ms": 1000},
                   {"user_id": 7, "item_id": "3", "time_ms": 500})
    assert read_file(path, {"7": {"interest": "tea"}}) == {
        "a": User([Behaviour("1", 1.0), Behaviour("2", 2.0, "buy", {"page": "home"})]),
        "7": User([Behaviour("3", 0.5)], {"interest": "tea"})}


@pytest.mark.parametrize("row", [
    "no json", {"item_id": "1", "time_ms": 1}, {"user_id": "a", "time_ms": 1},
    {"user_id": "a", "item_id": "1"}, {"user_id": "a", "item_id": "1", "time_ms": True}, [1],
    {"user_id": "a", "item_id": "1", "time_ms": 1, "scene": {"page": 1}},
    {"user_id": "a", "item_id": "1", "time_ms": 1, "action": [1]}])
def test_a_bad_line_is_refused_with_its_number(tmp_path, row):
    path = written(tmp_path, {"user_id": "a", "item_id": "1", "time_ms": 1}, row)
    with pytest.raises(InputError, match=r"behaviours\.jsonl:2"):
        read_file(path, {})


def test_only_the_last_hours_are_learnt_from_and_what_was_before_is_the_prompt(tmp_path):
    prompts = written_prompts(tmp_path, {"x": [0], "y": [1], "z": [2]}, [
        {"text": "<|bos|>"}, {"slot": "history", "maxItems": 2},
        {"slot": "scene", "key": "page", "before": "<", "after": ">", "default": "home",
         "values": {"home": "", "search": "?"}}])
    first, at = prompts.items["x"].tokens[0], prompts.tokenizer.encode("<>").ids
    asked = prompts.tokenizer.encode("<?>").ids
    hour = 3600.0
    search = {"page": "search"}
    users = {"a": User([Behaviour("x", 0.0), Behaviour("gone", hour), Behaviour("y", 2 * hour),
                        Behaviour("z", 9 * hour, scene=search), Behaviour("x", 9.5 * hour),
                        Behaviour("x", 9.6 * hour, scene={"page": "cellar"})])}
    assert recent_from(users, 1.0, now=100 * hour) == pytest.approx(8.6 * hour)
    rows = rows_of(users, prompts, 1.0)
    x, y, z = first, first + 1, first + 2
    bos = prompts.tokenizer.token_to_id("<|bos|>")
    # The last has a scene that the service refuses.
    assert [row.tokens for row in rows] == [[bos, x, y, *asked, z], [bos, y, z, *at, x]]
    assert all(row.counted == [False] * (len(row.tokens) - 1) + [True] for row in rows)


def written_prompts(folder: Path, items, segments) -> PromptWriter:
    codes = [f"<a_{code}>" for code in range(3)]
    texts = [*sorted(ByteLevel.alphabet()), "<|bos|>", *codes]
    build_tokenizer(Vocabulary(texts, [], [], [])).save(str(folder / "tokenizer.json"))
    (folder / "config.json").write_text(json.dumps({"max_position_embeddings": 100}))
    (folder / "prompt.json").write_text(json.dumps(
        {"version": 1, "name": "t", "levels": ["<a_{code}>"], "segments": segments}))
    (folder / "catalogue.jsonl").write_text("\n".join(
        json.dumps({"item_id": item, "sid": sid}) for item, sid in items.items()))
    return read_prompt_folder(folder)


def test_a_folder_of_an_encoder_decoder_is_refused_by_its_family(tmp_path):
    written_prompts(tmp_path, {"x": [0]}, [{"slot": "history"}])
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "t5", "n_positions": 9}))
    with pytest.raises(InputError, match=r"config.json: .*of a decoder \(qwen3.*got 't5'"):
        read_prompt_folder(tmp_path)


def test_prompts_of_the_demo_have_the_tokens_that_the_service_writes():
    prompts = read_prompt_folder(DEMO)
    vocabulary = json.loads((DEMO / "tokenizer.json").read_text())["added_tokens"]
    ids = {token["content"]: token["id"] for token in vocabulary}
    first = json.loads((DEMO / "catalogue.jsonl").read_text().splitlines()[0])
    codes = zip("abc", first["sid"], strict=True)
    expected = [ids[f"<{letter}_{code}>"] for letter, code in codes]
    done = [Behaviour(first["item_id"])]
    assert prompts.prompt({}, {}, done).tokens == [
        ids["<|bos|>"], *expected, ids["<|daypart_morning|>"]]
    assert prompts.prompt({"interest": "pets"}, {"daypart": "night"}, []).tokens == [
        ids["<|bos|>"], ids["<|interest_pets|>"], ids["<|daypart_night|>"]]


@pytest.mark.parametrize(("segment", "missing"), [
    ({"slot": "history", "actions": ["click"]}, "actions"),
    ({"slot": "history", "mergeRepeatsSeconds": 5}, "times")])
def test_behaviours_without_what_the_template_goes_by_are_refused(segment, missing, tmp_path):
    prompts = written_prompts(tmp_path, {"x": [0]}, [segment])
    users = {"u": User([Behaviour("x", 5.0, "click")]), "v": User([Behaviour("x")])}
    with pytest.raises(InputError, match=f"b.jsonl: user 'v': expected {missing}"):
        check_users(prompts, users, "b.jsonl")


def finetune(monkeypatch, folder: Path, out: str, *words: object) -> int:
    monkeypatch.setattr(sys, "argv", ["trainer", "finetune", "--model", str(DEMO), "--behaviours",
                                      str(folder / "behaviours.jsonl"), "--out", str(folder / out),
                                      "--threads", "1", *map(str, words)])
    return main()


def test_an_adapter_goes_on_from_one_before_and_a_worse_one_is_not_written(
        tmp_path, monkeypatch, capsys):
    liked = ["1", "30", "90"]
    written(tmp_path, *({"user_id": f"u{user}", "item_id": liked[time % 3], "time_ms": 1000 * time,
                         "action": "click"} for user in range(40) for time in range(1, 4)))
    assert finetune(monkeypatch, tmp_path, "first", "--epochs", 2, "--validate", 0.3) == 0
    assert finetune(monkeypatch, tmp_path, "second", "--epochs", 2, "--validate", 0.3, "--from",
                    tmp_path / "first") == 0
    printed = capsys.readouterr().out
    first, second = ([float(number) for number in re.findall(r"held out \(\d+\) (\S+) -> (\S+)",
                                                             printed)[place]] for place in (0, 1))
    assert first[1] < first[0] and second[0] == pytest.approx(first[1], abs=0.01)
    assert second[1] < second[0]
    assert list((tmp_path / "second" / "tensorboard").glob("events.out.tfevents.*"))
    assert finetune(monkeypatch, tmp_path, "bad", "--epochs", 2, "--validate", 0.3, "--lr", 3,
                    "--from", tmp_path / "first") == 1
    assert not (tmp_path / "bad").exists()
    assert finetune(monkeypatch, tmp_path, "other", "--from", tmp_path / "none") == 2


@pytest.mark.parametrize("words", [["--validate", 0], ["--validate", 0.3, "--no-gate"]])
def test_factors_that_are_no_numbers_are_not_written(words, tmp_path, monkeypatch, capsys):
    written(tmp_path, *({"user_id": f"u{user}", "item_id": "30", "time_ms": 1000 * time,
                         "action": "click"} for user in range(9) for time in range(1, 4)))
    assert finetune(monkeypatch, tmp_path, "out", "--epochs", 1, "--lr", 1e30, *words) == 2
    assert "--lr: expected a rate by which losses and factors" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
