"""Prompts of a model folder as token ids: what the service asks the model, for training."""

import json
from dataclasses import dataclass
from pathlib import Path

from tokenizers import Tokenizer

from .errors import InputError
from .samples import Row


@dataclass(frozen=True)
class PromptFolder:
    """`prompt.json`, tokenizer and catalogue of a folder whose template has static text, a history
    and slots that have a default or may be left out."""

    before: list[int]
    after: list[int]
    items: dict[str, list[int]]
    max_items: int

    def row(self, history: list[str], target: str) -> Row:
        """The prompt of a history, and its answer; the loss counts the answer alone."""
        shown = [item for item in history if item in self.items][-self.max_items:]
        prompt = self.before + [t for item in shown for t in self.items[item]] + self.after
        answer = self.items[target]
        return Row(prompt + answer, [False] * len(prompt) + [True] * len(answer))


def read_prompt_folder(folder: Path) -> PromptFolder:
    """Refuses templates that it cannot write exactly as the service does."""
    prompt = json.loads((folder / "prompt.json").read_text())
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))

    def encode(text: str) -> list[int]:
        return tokenizer.encode(text, add_special_tokens=False).ids

    sides: list[list[int]] = [[], []]
    max_items = 0
    for place, segment in enumerate(prompt["segments"]):
        where = f"{folder / 'prompt.json'}: segments[{place}]"
        if segment.get("slot") == "history":
            if segment.get("separator") or segment.get("before") or segment.get("after"):
                raise InputError(where, "a history without separators", segment)
            max_items = segment.get("maxItems", 100)
        elif "text" in segment:
            sides[max_items > 0] += encode(segment["text"])
        elif "default" in segment:
            value = segment.get("values", {}).get(segment["default"], segment["default"])
            text = segment.get("before", "") + value + segment.get("after", "")
            sides[max_items > 0] += encode(text)
    if max_items == 0:
        raise InputError(str(folder / "prompt.json"), "a history segment", "none")
    items = {}
    for line in (folder / "catalogue.jsonl").read_text().splitlines():
        row = json.loads(line)
        text = "".join(pattern.replace("{code}", str(code))
                       for pattern, code in zip(prompt["levels"], row["sid"], strict=False))
        items[str(row["item_id"])] = encode(text)
    return PromptFolder(sides[0], sides[1], items, max_items)
