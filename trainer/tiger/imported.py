"""One form of imported models, whichever library trained them."""

from dataclasses import dataclass, field
from typing import Any

import torch

from ..data import SidIndex
from ..errors import InputError
from .settings import Settings
from .t5 import Tensors

START, SEPARATOR, END, PAD = "<start>", "<sep>", "</s>", "<pad>"
USER_BEFORE, USER_AFTER = "<user_", ">"

#: Positions of T5's configs where nothing else is told; no position limits T5 itself.
POSITIONS = 512


@dataclass
class Imported:
    """`tensors` are those of T5ForConditionalGeneration, without `lm_head.weight` where the head is
    the table; `config` is T5Config's. `texts` are the tokens that prompts and answers have, with
    their ids; `patterns` those of each level."""

    library: str
    config: dict[str, Any]
    tensors: Tensors
    texts: dict[str, int]
    patterns: list[str]
    index: SidIndex
    max_items: int
    has_separator: bool = False
    encoder_end: bool = False
    answer_end: bool = False
    user_bins: int = 0
    settings: Settings = field(default_factory=Settings)

    @property
    def depth(self) -> int:
        return len(self.patterns)

    @property
    def prompt_tokens(self) -> int:
        """Length of the longest prompt, the start token among its tokens."""
        item = self.index.depth + self.has_separator
        return (self.user_bins > 0) + self.max_items * item + self.encoder_end + 1

    def prompt(self) -> dict[str, Any]:
        """The template: the encoder's input, and the start token, at which the decoder begins."""
        segments: list[dict[str, Any]] = [
            {"slot": "history", "separator": "", "before": "", "after": "",
             "maxItems": self.max_items}]
        if self.user_bins:
            segments.insert(0, {"slot": "user", "bins": self.user_bins, "before": USER_BEFORE,
                                "after": USER_AFTER})
        if self.encoder_end:
            segments.append({"text": END})
        segments.append({"text": START})
        return {
            "version": 1, "name": f"tiger-{self.library}", "levels": self.patterns,
            "item": {"prefix": "", "suffix": SEPARATOR if self.has_separator else ""},
            "answer": {"prefix": "", "terminal": [END] if self.answer_end else [],
                       "norm": self.settings.value("norm")},
            "segments": segments, "maxPromptTokens": self.prompt_tokens, "trimStep": 1,
        }


@dataclass
class Rows:
    """A vocabulary that is made of several tables, row by row."""

    texts: dict[str, int] = field(default_factory=dict)
    tables: list[torch.Tensor] = field(default_factory=list)

    def add(self, texts: list[str], table: torch.Tensor) -> range:
        """Ids of the new rows, which are named `texts`."""
        if table.dim() != 2 or len(table) != len(texts):
            raise ValueError(f"{len(texts)} texts for {list(table.shape)}")
        first = len(self.texts)
        for place, text in enumerate(texts, first):
            if self.texts.setdefault(text, place) != place:
                raise InputError("vocabulary", "texts that differ", text)
        self.tables.append(table.float())
        return range(first, len(self.texts))

    def table(self) -> torch.Tensor:
        return torch.cat(self.tables)


def check_index(index: SidIndex, codes: list[int], heads: list[str], where: str) -> None:
    """Compares semantic IDs with the heads' codes. Errors: InputError with item and level."""
    if index.depth != len(codes):
        raise InputError(where, f"semantic IDs of {len(codes)} codes, as many as there are heads",
                         index.depth)
    for item, sid in index.codes.items():
        if len(sid) != len(codes):
            raise InputError(f"{where}: item {item!r}", f"{len(codes)} codes", list(sid))
        for level, code in enumerate(sid):
            if code >= codes[level]:
                raise InputError(f"{where}: item {item!r} level {level}", f"a code below "
                                 f"{codes[level]}, as {heads[level]} has", code)
