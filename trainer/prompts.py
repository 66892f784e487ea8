"""Prompts of a model folder as token ids: what the service asks the model, for training."""

import json
from dataclasses import dataclass
from pathlib import Path

from tokenizers import Tokenizer

from .errors import InputError
from .samples import Row
from .tokens import BOS


@dataclass(frozen=True)
class PromptFolder:
    """`prompt.json`, tokenizer and catalogue of a folder whose template has static text, a history
    and slots that have a default or may be left out."""

    before: list[int]
    after: list[int]
    items: dict[str, list[int]]
    max_items: int
    trim_step: int = 1
    max_tokens: int = 1 << 20

    def row(self, history: list[str], target: str) -> Row:
        """The prompt of a history, and its answer; the loss counts the answer alone."""
        shown = self._trimmed([item for item in history if item in self.items])
        prompt = self.before + [t for item in shown for t in self.items[item]] + self.after
        answer = self.items[target]
        return Row(prompt + answer, [False] * len(prompt) + [True] * len(answer))


    def _trimmed(self, items: list[str]) -> list[str]:
        """As the service cuts a history: whole steps of the oldest, to the items and then to the
        tokens that a prompt may have."""
        drop = max(0, -(-(len(items) - self.max_items) // self.trim_step) * self.trim_step)
        shown = items[drop:]
        room = self.max_tokens - len(self.before) - len(self.after)
        while shown and sum(len(self.items[item]) for item in shown) > room:
            shown = shown[self.trim_step:]
        return shown


# Keys of prompt.json, and of its history, whose prompts are made here as they are served.
TEMPLATE_KEYS = {"version", "name", "levels", "segments", "maxPromptTokens", "trimStep"}
HISTORY_KEYS = {"slot", "maxItems", "separator", "before", "after"}
VALUE_KEYS = {"slot", "key", "before", "after", "values", "default"}


def check_trained_template(folder: Path) -> None:
    """Refuses a folder to go on from whose prompts have more than `train` writes: a history behind
    `<|bos|>`. Such a model would be served with prompts that it has forgotten."""
    path = folder / "prompt.json"
    if not path.exists():
        return
    for place, segment in enumerate(json.loads(path.read_text()).get("segments", [])):
        around = any(segment.get(name) for name in ("separator", "before", "after"))
        is_history = (segment.get("slot") == "history" and not around
                      and not segment.keys() - HISTORY_KEYS)
        if not is_history and segment != {"text": BOS}:
            raise InputError(f"--from: {path}: segments[{place}]", f"{BOS} and one history: train "
                             "writes no other prompts (finetune keeps the template)", segment)


def _check_template(path: Path, prompt: dict) -> None:
    """Refuses what is served in a way that is not repeated here."""
    around = {key: text for part in ("item", "answer") for key, text in
              ((f"{part}.{name}", text) for name, text in prompt.get(part, {}).items()) if text}
    for name, text in around.items():
        raise InputError(f"{path}: {name}", "none: fine-tuning writes items and answers alone",
                         text)
    for key in prompt.keys() - TEMPLATE_KEYS - {"item", "answer"}:
        raise InputError(f"{path}: {key}", f"one of {sorted(TEMPLATE_KEYS)}", prompt[key])
    for place, level in enumerate(prompt["levels"]):
        if not isinstance(level, str):
            raise InputError(f"{path}: levels[{place}]", "a pattern with {code}", level)
    for place, segment in enumerate(prompt["segments"]):
        known = HISTORY_KEYS if segment.get("slot") == "history" else VALUE_KEYS | {"text"}
        for key in segment.keys() - known:
            raise InputError(f"{path}: segments[{place}].{key}",
                             "none: fine-tuning shows every behaviour alike", segment[key])
    histories = [s for s in prompt["segments"] if s.get("slot") == "history"]
    if len(histories) != 1:
        raise InputError(f"{path}: segments", "one history", len(histories))


def read_prompt_folder(folder: Path) -> PromptFolder:
    """Refuses templates that it cannot write exactly as the service does."""
    prompt = json.loads((folder / "prompt.json").read_text())
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))

    def encode(text: str) -> list[int]:
        return tokenizer.encode(text, add_special_tokens=False).ids

    _check_template(folder / "prompt.json", prompt)
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
    return PromptFolder(sides[0], sides[1], items, max_items, prompt.get("trimStep", 1),
                        prompt.get("maxPromptTokens", 1 << 20))
