"""Hidden states of items behind prompts, as the engine computes them: a prompt's keys and values
once, all items of an impression behind them, none of which sees another."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from .data import read_text
from .errors import InputError
from .model import is_hybrid
from .prompts import PromptWriter

#: Of one pass, prompts with their padding; items count as much.
PASS_TOKENS = 6144
SID = "{sid}"
SLOT = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True)
class ItemTemplate:
    """`item` of ranking.json bound to a tokenizer and a catalogue: tokens of items by ID."""

    text: str
    tokens_max: int
    writer: PromptWriter
    rows: dict[str, dict[str, Any]]

    def __post_init__(self) -> None:
        if self.text.count(SID) != 1 or SLOT.search(self.text.split(SID)[0]):
            raise InputError("--item", "one {sid}, with no slot before it", self.text)
        if len(self.prefix) > self.tokens_max:
            raise InputError("--item", f"at most {self.tokens_max} tokens before {SID}",
                             len(self.prefix))

    @property
    def prefix(self) -> list[int]:
        return self._encode(self.text.split(SID)[0])

    @property
    def longest(self) -> int:
        """Tokens of any item at most."""
        behind = self.text.split(SID)[1]
        own = len(self.prefix) + len(self._encode(behind))
        deepest = max(len(one.tokens) for one in self.writer.items.values())
        return deepest + (self.tokens_max if SLOT.search(behind) else min(own, self.tokens_max))

    def tokens(self, item: str) -> list[int]:
        """Prefix, SID, suffix; the suffix is cut at its end."""
        prefix = self.prefix
        suffix = self._encode(self._filled(self.text.split(SID)[1], self.rows[item]))
        return [*prefix, *self.writer.items[item].tokens,
                *suffix[:max(0, self.tokens_max - len(prefix))]]

    def _filled(self, text: str, row: dict[str, Any]) -> str:
        values = [_text_of(row, name) for name in SLOT.findall(text)]
        if values and not any(values):
            return ""
        found = iter(values)
        return SLOT.sub(lambda _: next(found), text)

    def _encode(self, text: str) -> list[int]:
        return self.writer.tokenizer.encode(text, add_special_tokens=False).ids if text else []


def _text_of(row: dict[str, Any], name: str) -> str:
    value = row.get("title", "") if name == "title" else row.get("attributes", {}).get(name, "")
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def catalogue_rows(folder: Path) -> dict[str, dict[str, Any]]:
    """Rows of catalogue.jsonl by item."""
    rows = map(json.loads, read_text(folder / "catalogue.jsonl").splitlines())
    return {str(row["item_id"]): row for row in rows}


@dataclass(frozen=True)
class Impression:
    """One prompt, the items behind it, and the rows of exposures that they are."""

    prompt: list[int]
    items: list[list[int]]
    rows: np.ndarray


@dataclass(frozen=True)
class Reading:
    """Impressions of one pass as tensors: prompts padded on the right; behind them the tokens of
    all items, each of which sees its prompt and itself."""

    impressions: Sequence[Impression]
    prompts: torch.Tensor
    prompt_mask: torch.Tensor
    tokens: torch.Tensor
    positions: torch.Tensor
    mask: torch.Tensor
    last: torch.Tensor  # (items, 2): row of the pass and place of an item's last token

    @property
    def rows(self) -> np.ndarray:
        return np.concatenate([one.rows for one in self.impressions])


def reading_of(impressions: Sequence[Impression], pad: int) -> Reading:
    longest = max(len(one.prompt) for one in impressions)
    width = max(sum(map(len, one.items)) for one in impressions)
    count = len(impressions)
    prompts, tokens = torch.full((count, longest), pad), torch.full((count, width), pad)
    prompt_mask = torch.zeros(count, longest, dtype=torch.long)
    positions = torch.zeros(count, width, dtype=torch.long)
    mask = torch.zeros(count, 1, width, longest + width, dtype=torch.bool)
    mask[:, 0, :, 0] = True  # padding sees something: a row of nothing is NaN
    last = []
    for row, one in enumerate(impressions):
        size = len(one.prompt)
        prompts[row, :size] = torch.tensor(one.prompt)
        prompt_mask[row, :size] = 1
        begin = 0
        for item in one.items:
            end = begin + len(item)
            tokens[row, begin:end] = torch.tensor(item)
            positions[row, begin:end] = size + torch.arange(len(item))
            mask[row, 0, begin:end, :size] = True
            mask[row, 0, begin:end, longest + begin:longest + end] = torch.ones(
                len(item), len(item), dtype=torch.bool).tril()
            last.append((row, end - 1))
            begin = end
    return Reading(impressions, prompts, prompt_mask, tokens, positions, mask, torch.tensor(last))


def readings(impressions: Sequence[Impression], pad: int,
             rng: np.random.Generator | None = None) -> Iterator[Reading]:
    """Impressions of like lengths together, in random order with `rng`."""
    sizes = [len(one.prompt) for one in impressions]
    order = np.argsort(sizes, kind="stable") if rng is None else np.lexsort(
        (rng.random(len(sizes)), sizes))
    groups: list[list[int]] = []
    longest = width = 0
    for place in order:
        one = impressions[place]
        longest, width = max(longest, sizes[place]), max(width, sum(map(len, one.items)))
        if not groups or (len(groups[-1]) + 1) * (longest + width) > PASS_TOKENS:
            groups.append([])
            longest, width = sizes[place], sum(map(len, one.items))
        groups[-1].append(int(place))
    for group in (range(len(groups)) if rng is None else rng.permutation(len(groups))):
        yield reading_of([impressions[place] for place in groups[group]], pad)


class Reader:
    """A model that reads items behind prompts. `adapter`: '' (the model alone), 'activated' (its
    factors change the items' rows alone) or 'lora' (prompt and items)."""

    def __init__(self, model, adapter: str = "") -> None:
        if is_hybrid(model):
            # Items of a row are kept apart by a mask; a state would run from one into the next.
            raise InputError("--model", "a model whose layers are all of attention",
                             model.config.model_type)
        self.model, self.adapter = model, adapter

    def last_states(self, reading: Reading) -> torch.Tensor:
        """Of each item's last token, behind the final norm."""
        hidden = self._items(reading, self._prompts(reading)[1])
        return hidden[reading.last[:, 0], reading.last[:, 1]]

    def recall_scores(self, reading: Reading, sids: Sequence[Sequence[int]]) -> torch.Tensor:
        """Log-probability of each SID behind its prompt; items of the reading are SIDs alone."""
        return self.states_and_scores(reading, sids)[1]

    def states_and_scores(self, reading: Reading, sids: Sequence[Sequence[int]]
                          ) -> tuple[torch.Tensor, torch.Tensor]:
        """As `last_states` and `recall_scores`, of one pass."""
        before, cache = self._prompts(reading)
        hidden = self._items(reading, cache)
        ends = reading.prompt_mask.sum(1) - 1
        states = torch.cat([
            torch.cat([before[row, ends[row]][None], hidden[row, last - len(sid) + 1:last]])
            for (row, last), sid in zip(reading.last.tolist(), sids, strict=True)])
        tokens = torch.tensor([token for sid in sids for token in sid])
        each = self.model.lm_head(states).log_softmax(-1).gather(1, tokens[:, None])[:, 0]
        scores = torch.stack([one.sum() for one in each.split([len(sid) for sid in sids])])
        return hidden[reading.last[:, 0], reading.last[:, 1]], scores

    def _prompts(self, reading: Reading):
        learns = self.adapter == "lora" and torch.is_grad_enabled()
        prompts = {"input_ids": reading.prompts, "attention_mask": reading.prompt_mask}
        with torch.set_grad_enabled(learns):
            if self.adapter == "activated":
                with self.model.disable_adapter():
                    return self._run(**prompts)
            return self._run(**prompts)

    def _items(self, reading: Reading, cache) -> torch.Tensor:
        # Where activation begins counts from the end of a row: this is beyond every beginning.
        everywhere = ({"alora_offsets": [reading.tokens.shape[1]] * len(reading.tokens)}
                      if self.adapter == "activated" else {})
        return self._run(input_ids=reading.tokens, position_ids=reading.positions,
                         attention_mask=reading.mask, past_key_values=cache, **everywhere)[0]

    def _run(self, **inputs):
        if not self.adapter:
            found = self.model.model(**inputs, use_cache=True)
            return found.last_hidden_state, found.past_key_values
        found = self.model(**inputs, use_cache=True, output_hidden_states=True, logits_to_keep=1)
        return found.hidden_states[-1], found.past_key_values
