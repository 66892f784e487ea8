"""Prompts of a template as token ids: those that the service writes for the same behaviours, for
training, fine-tuning and measurements (libs/service/prompt/src/domain/compiled-template.ts)."""

import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tokenizers import AddedToken, Tokenizer

from .data import ItemText, SidIndex, read_json, read_text
from .errors import InputError
from .history import NO_SCENE, Answers, Behaviour
from .history_plan import HistoryPlan, gap_text, plan_history
from .samples import Row
from .slot_values import AddedTokens, FreeValue, FreeValuePlace, check_borders, slot_text
from .template import (PROMPT_TOKENS_MAX, Affix, HistorySegment, LevelForm, Template, TextSegment,
                       UserSegment, read_template)
from .tokens import Vocabulary

KNOWN_TEXTS_MAX = 100_000


@dataclass(frozen=True)
class PromptItem:
    """An item as prompts show it: the tokens of its SID, and the `domain` of its attributes."""

    tokens: tuple[int, ...]
    domain: str = ""


@dataclass(frozen=True)
class Shown:
    """A behaviour in a prompt: its place in the history that was given, and tokens
    [begin, end) of its SID."""

    place: int
    begin: int
    end: int


@dataclass(frozen=True)
class Prompt:
    """`shown`, in the order of the prompt."""

    tokens: list[int]
    shown: list[Shown]


Piece = str | FreeValue | PromptItem


class PromptWriter:
    """A template bound to a tokenizer and to items. Of a history, behaviours of items that are not
    there are left out, as the service leaves out items that have gone."""

    def __init__(self, template: Template, tokenizer: Tokenizer, items: Mapping[str, PromptItem],
                 tokens_max: int = PROMPT_TOKENS_MAX, anchor: str = "") -> None:
        """`tokens_max`: what the model takes before its answer; the template's own maximum holds as
        well. `anchor`: text of a token of the first level, "" where levels have no texts."""
        if any(isinstance(segment, UserSegment) for segment in template.segments):
            raise InputError("prompt.json: segments", "no segment of the user: sequences have no "
                             "numbers of users", '"slot": "user"')
        self.template, self.tokenizer, self.items = template, tokenizer, items
        self.tokens_max = min(tokens_max, template.max_tokens)
        self.terminal = tuple(_terminal(tokenizer, text) for text in template.terminal)
        self.added = AddedTokens(tokenizer)
        self.reserved = {token for item in items.values() for token in item.tokens}
        self.reserved.update(self.terminal)
        self.anchor = anchor if _is_single(tokenizer, anchor) else ""
        self.known: dict[tuple[object, ...], list[int]] = {}

    def prompt(self, profile: Mapping[str, str], scene: Mapping[str, str],
               history: Sequence[Behaviour]) -> Prompt:
        """Where it would be too long, the oldest behaviours go, in the smallest multiple of
        `trimStep` that makes it fit; where that would leave none, as few as fit. Errors:
        InputError, where the service refuses the request."""
        plan = plan_history(self.template, history, self.items)
        count = len(plan.used)

        def written(dropped: int) -> Prompt:
            return self._written(profile, scene, history, plan, dropped)

        found = written(0)
        if len(found.tokens) <= self.tokens_max:
            return found
        dropped = self._dropped(written, count, self.template.trim_step)
        if dropped >= count:
            dropped = self._dropped(written, count, 1)
        found = written(dropped)
        if len(found.tokens) > self.tokens_max or (count and dropped >= count):
            raise InputError("prompt", f"at most {self.tokens_max} tokens with at least one item "
                             "of the history", len(found.tokens))
        return found

    def _dropped(self, written: Callable[[int], Prompt], count: int, step: int) -> int:
        """Smallest multiple of the step that fits, or that drops all."""
        high = -(-count // step)
        low = min(1, high)
        while low < high:
            middle = (low + high) // 2
            if len(written(middle * step).tokens) <= self.tokens_max:
                high = middle
            else:
                low = middle + 1
        return low * step

    def row(self, profile: Mapping[str, str], history: Sequence[Behaviour], answer: Behaviour,
            counts: Answers) -> tuple[Row, Prompt]:
        """The prompt in the scene of a behaviour, and that behaviour as its answer. The loss counts
        the answer, and the SIDs of those in the history that `counts` takes."""
        prompt = self.prompt(profile, answer.scene, history)
        tokens = [*self.items[answer.item].tokens, *self.terminal]
        counted = [False] * len(prompt.tokens) + [True] * len(tokens)
        for shown in prompt.shown:
            if counts(history[shown.place]):
                counted[shown.begin:shown.end] = [True] * (shown.end - shown.begin)
        return Row(prompt.tokens + tokens, counted), prompt

    def check_values(self, profile: Mapping[str, str],
                     scene: Mapping[str, str] = NO_SCENE) -> None:
        """Errors: InputError where a value is one that the service refuses."""
        given = {"profile": profile, "scene": scene}
        for segment in self.template.values:
            slot_text(segment, given[segment.kind], self.added)

    def _written(self, profile: Mapping[str, str], scene: Mapping[str, str],
                 history: Sequence[Behaviour], plan: HistoryPlan, dropped: int) -> Prompt:
        oldest = plan.used[dropped] if dropped < len(plan.used) else len(history)
        given = {"profile": profile, "scene": scene}
        pieces: list[Piece] = []
        places: list[int] = []
        histories = iter(plan.shown)
        for segment in self.template.segments:
            if isinstance(segment, TextSegment):
                pieces.append(segment.text)
            elif isinstance(segment, HistorySegment):
                shown = [place for place in next(histories) if place >= oldest]
                places += shown
                pieces += self._history(segment, [history[place] for place in shown])
            else:
                text = slot_text(segment, given[segment.kind], self.added)
                if text is not None:
                    pieces += [segment.before, text, segment.after]
        pieces.append(self.template.answer_prefix)
        return self._tokens(pieces, places)

    def _history(self, segment: HistorySegment, behaviours: list[Behaviour]) -> list[Piece]:
        if not behaviours:
            return []
        template, texts = self.template, segment.action_texts
        pieces: list[Piece] = [segment.before]
        before = None
        for behaviour in behaviours:
            if before is not None:
                pieces += [segment.separator, gap_text(segment.time_gaps, before, behaviour)]
            before = behaviour
            item = self.items[behaviour.item]
            pieces += [texts.get(behaviour.action, texts.get("*", "")),
                       _affix(template.item_prefix, item.domain), item,
                       _affix(template.item_suffix, item.domain)]
        pieces.append(segment.after)
        return pieces

    def _tokens(self, pieces: list[Piece], places: list[int]) -> Prompt:
        tokens: list[int] = []
        shown: list[Shown] = []
        values: list[FreeValuePlace] = []
        text, left = "", False
        for piece in pieces:
            if isinstance(piece, str):
                text += piece
            elif isinstance(piece, FreeValue):
                values.append(FreeValuePlace(piece, len(text), len(text) + len(piece.text)))
                text += piece.text
            else:
                if text:
                    tokens += self._encode(text, left, True, values)
                begin = len(tokens)
                tokens += piece.tokens
                shown.append(Shown(places[len(shown)], begin, len(tokens)))
                text, left, values = "", True, []
        if text:
            tokens += self._encode(text, left, False, values)
        return Prompt(tokens, shown)

    def _encode(self, text: str, left: bool, right: bool,
                values: list[FreeValuePlace]) -> list[int]:
        """Tokens of a text between SIDs, with a level token on each side that has one: tokenizers
        treat the start of a text unlike its middle."""
        key = (text, left, right, *((place.begin, place.end) for place in values))
        known = self.known.get(key)
        if known is None:
            check_borders(text, values, self.added, self._is_reserved)
            before, after = self.anchor if left else "", self.anchor if right else ""
            ids = self.tokenizer.encode(before + text + after, add_special_tokens=False).ids
            known = ids[bool(before):len(ids) - bool(after)]
            if len(self.known) >= KNOWN_TEXTS_MAX:
                self.known.clear()
            self.known[key] = known
        return known

    def _is_reserved(self, number: int, token: AddedToken) -> bool:
        return token.special or number in self.reserved


def _affix(affix: Affix, domain: str) -> str:
    return affix if isinstance(affix, str) else affix.get(domain, "")


def _is_single(tokenizer: Tokenizer, text: str) -> bool:
    number = tokenizer.token_to_id(text)
    twice = tokenizer.encode(text + text, add_special_tokens=False).ids
    return text != "" and twice == [number, number]


def _terminal(tokenizer: Tokenizer, text: str) -> int:
    ids = tokenizer.encode(text, add_special_tokens=False).ids
    if len(ids) != 1:
        raise InputError("prompt.json: answer.terminal", "texts of exactly one token each", text)
    return ids[0]


def level_token(form: LevelForm, code: int, tokenizer: Tokenizer) -> int | None:
    """Token of a code, None where the vocabulary has none."""
    if isinstance(form, str):
        return tokenizer.token_to_id(form.replace("{code}", str(code)))
    if "base" in form:
        return form["base"] + code
    return form["ids"][code] if code < len(form["ids"]) else None


def read_tokenizer(folder: Path) -> Tokenizer:
    """tokenizer.json of a folder; texts are never cut or padded. Errors: InputError."""
    try:
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    except Exception as error:  # whatever the library raises
        raise InputError(str(folder), "a folder with tokenizer.json", str(error)) from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def read_prompt_folder(folder: Path, sids: Mapping[str, Sequence[int]] | None = None
                       ) -> PromptWriter:
    """Of prompt.json, tokenizer.json and config.json of a served folder, with the items of its
    catalogue.jsonl or those of `sids`. Items whose codes have no tokens are left out, as in
    histories that are served."""
    template, tokenizer = read_template(folder / "prompt.json"), read_tokenizer(folder)
    rows = ([(item, sid, "") for item, sid in sids.items()] if sids is not None
            else _catalogue(folder / "catalogue.jsonl"))
    deepest = max((len(sid) for _, sid, _ in rows), default=0)
    if not 0 < deepest <= len(template.levels):
        raise InputError(f"{folder / 'prompt.json'}: levels",
                         f"{deepest} or more, as the catalogue has", len(template.levels))
    items = {}
    for item, sid, domain in rows:
        tokens = [level_token(form, code, tokenizer)
                  for form, code in zip(template.levels, sid, strict=False)]
        if all(token is not None for token in tokens):
            items[item] = PromptItem(tuple(tokens), domain)
    positions = _positions(folder / "config.json")
    # The last token of an answer is computed with nothing behind it.
    room = positions - deepest - len(template.terminal) + 1
    highest = max(sid[0] for _, sid, _ in rows)
    return PromptWriter(template, tokenizer, items, room, anchor_of(template, tokenizer, highest))


def _positions(path: Path) -> int:
    config = read_json(path)
    found = config.get("max_position_embeddings") if isinstance(config, dict) else None
    if not isinstance(found, int):
        family = config.get("model_type") if isinstance(config, dict) else None
        raise InputError(f"{path}: max_position_embeddings", "those of a decoder (qwen3, qwen3_5, "
                         "llama, ...; an encoder-decoder, as t5, is not taken)", family)
    return found


def _catalogue(path: Path) -> list[tuple[str, list[int], str]]:
    """Item, semantic ID and domain of each row."""
    rows = []
    for line in io.StringIO(read_text(path)):
        row = json.loads(line)
        domain = row.get("attributes", {}).get("domain", "")
        rows.append((str(row["item_id"]), row["sid"], domain if isinstance(domain, str) else ""))
    return rows


def items_of(index: SidIndex, vocabulary: Vocabulary,
             texts: Mapping[str, ItemText]) -> dict[str, PromptItem]:
    """Items of an index as prompts show them."""
    found = {}
    for item, sid in index.codes.items():
        text = texts.get(item)
        domain = text.attributes.get("domain", "") if text else ""
        found[item] = PromptItem(tuple(vocabulary.item_tokens(sid)),
                                 domain if isinstance(domain, str) else "")
    return found


def anchor_of(template: Template, tokenizer: Tokenizer, highest: int) -> str:
    """Text of the first token of level 0 that the vocabulary has for codes up to `highest`."""
    form = template.levels[0]
    if not isinstance(form, str):
        return ""
    for code in range(highest + 1):
        if level_token(form, code, tokenizer) is not None:
            return form.replace("{code}", str(code))
    return ""
