"""Behaviours in, rows out: what is learnt from, and what is refused."""

import json
from pathlib import Path

import pytest

from trainer.behaviours import Behaviour, read_file, recent_from
from trainer.errors import InputError
from trainer.finetune import rows_of
from trainer.prompts import PromptFolder, read_prompt_folder

DEMO = Path(__file__).resolve().parents[2] / "models" / "demo"


def written(folder: Path, *rows: object) -> Path:
    path = folder / "behaviours.jsonl"
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n"
                            for row in rows))
    return path


def test_behaviours_are_ordered_by_time_and_kept_by_user(tmp_path):
    path = written(tmp_path, {"user_id": "a", "item_id": "2", "time_ms": 2000},
                   {"user_id": "a", "item_id": 1, "time_ms": 1000},
                   {"user_id": 7, "item_id": "3", "time_ms": 500})
    assert read_file(path) == {"a": [Behaviour("1", 1.0), Behaviour("2", 2.0)],
                               "7": [Behaviour("3", 0.5)]}


@pytest.mark.parametrize("row", [
    "no json", {"item_id": "1", "time_ms": 1}, {"user_id": "a", "time_ms": 1},
    {"user_id": "a", "item_id": "1"}, {"user_id": "a", "item_id": "1", "time_ms": True}, [1]])
def test_a_bad_line_is_refused_with_its_number(tmp_path, row):
    path = written(tmp_path, {"user_id": "a", "item_id": "1", "time_ms": 1}, row)
    with pytest.raises(InputError, match=r"behaviours\.jsonl:2"):
        read_file(path)


def test_only_the_last_hours_are_learnt_from_and_what_was_before_is_the_prompt():
    prompts = PromptFolder([0], [9], {"x": [1], "y": [2], "z": [3]}, max_items=2)
    hour = 3600.0
    histories = {"a": [Behaviour("x", 0.0), Behaviour("gone", hour), Behaviour("y", 2 * hour),
                       Behaviour("z", 9 * hour), Behaviour("x", 9.5 * hour)]}
    assert recent_from(histories, 1.0, now=100 * hour) == 8.5 * hour
    rows = rows_of(histories, prompts, 1.0)
    assert [row.tokens for row in rows] == [[0, 1, 2, 9, 3], [0, 2, 3, 9, 1]]
    assert [row.counted for row in rows] == [[False] * 4 + [True]] * 2


def test_prompts_of_the_demo_have_the_tokens_that_the_service_writes():
    prompts = read_prompt_folder(DEMO)
    vocabulary = json.loads((DEMO / "tokenizer.json").read_text())["added_tokens"]
    ids = {token["content"]: token["id"] for token in vocabulary}
    assert prompts.before == [ids["<|bos|>"]]
    assert prompts.after == [ids["<|daypart_morning|>"]]
    first = json.loads((DEMO / "catalogue.jsonl").read_text().splitlines()[0])
    codes = zip("abc", first["sid"], strict=True)
    expected = [ids[f"<{letter}_{code}>"] for letter, code in codes]
    assert prompts.items[first["item_id"]] == expected
