"""`prompt.json` as data, read as strictly as by the service (docs/integrate/prompt-template.md)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .data import read_text
from .errors import InputError

#: As libs/service/prompt/src/domain/parse-template.ts has them.
HISTORY_ITEMS_MAX = 100_000
PROMPT_TOKENS_MAX = 1 << 20
TEXT_LENGTH_MAX = 100_000
USER_BINS_MAX = 1 << 24

ROOT_KEYS = {"version", "name", "levels", "item", "answer", "segments", "maxPromptTokens",
             "trimStep"}
USER_KEYS = {"slot", "bins", "before", "after"}
VALUE_KEYS = {"slot", "key", "before", "after", "values", "default"}
HISTORY_KEYS = {"slot", "separator", "before", "after", "actions", "domains", "maxItems",
                "actionTexts", "timeGaps", "mergeRepeatsSeconds"}

#: The same for all items, or by an item's domain.
Affix = str | Mapping[str, str]
#: A pattern with {code}, {"base": n} or {"ids": [...]}.
LevelForm = str | Mapping[str, Any]


@dataclass(frozen=True)
class TextSegment:
    text: str


@dataclass(frozen=True)
class ValueSegment:
    """One value of the profile or the scene; left out whole where there is neither a value nor a
    default. Without `values` any text is written as it is."""

    kind: str
    key: str
    before: str
    after: str
    values: Mapping[str, str] | None
    default: str | None


@dataclass(frozen=True)
class UserSegment:
    """The user as one of `bins`: the ID modulo their number."""

    bins: int
    before: str
    after: str


@dataclass(frozen=True)
class HistorySegment:
    """Behaviours, oldest first. `actions` and `domains` choose among them, None takes all;
    `time_gaps` are (seconds at least, text), shortest first."""

    separator: str
    before: str
    after: str
    actions: frozenset[str] | None
    domains: frozenset[str] | None
    action_texts: Mapping[str, str]
    time_gaps: tuple[tuple[int, str], ...]
    merge_repeats_s: int | None
    max_items: int

    @property
    def takes_all(self) -> bool:
        return self.actions is None and self.domains is None and self.merge_repeats_s is None


Segment = TextSegment | ValueSegment | UserSegment | HistorySegment


@dataclass(frozen=True)
class Template:
    """`document` is what it was read from."""

    document: dict[str, Any]
    levels: list[LevelForm]
    item_prefix: Affix
    item_suffix: Affix
    answer_prefix: str
    terminal: list[str]
    segments: list[Segment]
    max_tokens: int
    trim_step: int

    @property
    def histories(self) -> list[HistorySegment]:
        return [segment for segment in self.segments if isinstance(segment, HistorySegment)]

    @property
    def values(self) -> list[ValueSegment]:
        return [segment for segment in self.segments if isinstance(segment, ValueSegment)]

    @property
    def uses_actions(self) -> bool:
        return any(history.actions is not None or history.action_texts
                   for history in self.histories)

    @property
    def uses_times(self) -> bool:
        return any(history.time_gaps or history.merge_repeats_s is not None
                   for history in self.histories)

    @property
    def uses_domains(self) -> bool:
        affixes = (self.item_prefix, self.item_suffix)
        return (not all(isinstance(affix, str) for affix in affixes)
                or any(history.domains is not None for history in self.histories))

    @property
    def answers_follow_items(self) -> bool:
        """True if an answer stands in a prompt as each item of the history does: right behind the
        one before it."""
        last = self.segments[-1]
        if not isinstance(last, HistorySegment) or len(self.histories) > 1:
            return False
        between = (last.separator, last.after, last.action_texts, last.time_gaps,
                   self.item_prefix, self.item_suffix, self.answer_prefix)
        return not any(between)

    def texts(self) -> list[str]:
        """Every text that the template itself may write, values between what surrounds them."""
        found = [self.answer_prefix, *self.terminal]
        for affix in (self.item_prefix, self.item_suffix):
            found += [affix] if isinstance(affix, str) else affix.values()
        for segment in self.segments:
            if isinstance(segment, TextSegment):
                found.append(segment.text)
            elif isinstance(segment, HistorySegment):
                found += [segment.before, segment.separator, segment.after,
                          *segment.action_texts.values(), *(text for _, text in segment.time_gaps)]
            elif isinstance(segment, UserSegment):
                found += [f"{segment.before}{bin}{segment.after}" for bin in range(segment.bins)]
            else:
                written = list((segment.values or {}).values())
                if segment.values is None:
                    written.append(segment.default or "")
                found += [segment.before + value + segment.after for value in written]
        return found


class _Field:
    """A value of the document and its path."""

    def __init__(self, where: str, path: str, value: Any) -> None:
        self.where, self.path, self.value = where, path, value

    def fail(self, expected: str) -> InputError:
        place = f"{self.where}: {self.path}" if self.path else self.where
        return InputError(place, expected, self.value)

    def only(self, keys: set[str]) -> "_Field":
        if not isinstance(self.value, dict):
            raise self.fail("an object")
        for key in self.value:
            if key not in keys:
                raise self.key(key).fail(f"one of the keys {', '.join(sorted(keys))}")
        return self

    def key(self, name: str, default: Any = None) -> "_Field":
        path = f"{self.path}.{name}" if self.path else name
        return _Field(self.where, path, self.value.get(name, default))

    @property
    def absent(self) -> bool:
        return self.value is None

    def text(self, *, filled: bool = False) -> str:
        value = "" if self.absent and not filled else self.value
        if not isinstance(value, str) or len(value) > TEXT_LENGTH_MAX or (filled and not value):
            raise self.fail("a text" if not filled else "a text that is not empty")
        return value

    def integer(self, low: int, high: int) -> int:
        if type(self.value) is not int or not low <= self.value <= high:
            raise self.fail(f"an integer in {low}..{high}")
        return self.value

    def list(self, *, least: int = 0) -> list["_Field"]:
        if not isinstance(self.value, list) or len(self.value) < least:
            raise self.fail(f"a list of {least} or more")
        return [_Field(self.where, f"{self.path}[{place}]", value)
                for place, value in enumerate(self.value)]

    def texts_by_name(self) -> dict[str, str]:
        if not isinstance(self.value, dict):
            raise self.fail("an object of texts")
        return {name: self.key(name).text() for name in self.value}

    def names(self) -> frozenset[str] | None:
        return None if self.absent else frozenset(one.text() for one in self.list(least=1))


def read_template(path: Path) -> Template:
    """Errors: InputError with file and field."""
    try:
        document = json.loads(read_text(path))
    except ValueError as error:
        raise InputError(str(path), "a prompt template in JSON", str(error)) from error
    return parse_template(document, str(path))


def parse_template(document: Any, where: str = "prompt.json") -> Template:
    """Errors: InputError with the path of the first field at fault."""
    root = _Field(where, "", document).only(ROOT_KEYS)
    root.key("version").integer(1, 1)
    root.key("name").text(filled=True)
    item = root.key("item", {}).only({"prefix", "suffix"})
    answer = root.key("answer", {}).only({"prefix", "terminal", "norm"})
    if answer.key("norm", "full").value not in ("full", "level", "allowed"):
        raise answer.key("norm").fail('"full", "level" or "allowed"')
    return Template(
        document,
        [_level(level) for level in root.key("levels").list(least=1)],
        _affix(item.key("prefix")), _affix(item.key("suffix")),
        answer.key("prefix").text(),
        [text.text(filled=True) for text in answer.key("terminal", []).list()],
        [_segment(segment) for segment in root.key("segments").list(least=1)],
        root.key("maxPromptTokens", PROMPT_TOKENS_MAX).integer(1, PROMPT_TOKENS_MAX),
        root.key("trimStep", 1).integer(1, HISTORY_ITEMS_MAX))


def _level(level: _Field) -> LevelForm:
    if isinstance(level.value, str):
        if level.value.count("{code}") != 1:
            raise level.fail("a text with one {code}")
        return level.value
    level.only({"base", "ids"})
    if len(level.value) != 1:
        raise level.fail('a pattern, {"base": n} or {"ids": [...]}')
    if "base" in level.value:
        level.key("base").integer(0, 0x7FFFFFFF)
    else:
        for token in level.key("ids").list(least=1):
            token.integer(0, 0x7FFFFFFF)
    return level.value


def _affix(affix: _Field) -> Affix:
    return affix.texts_by_name() if isinstance(affix.value, dict) else affix.text()


def _segment(segment: _Field) -> Segment:
    if not isinstance(segment.value, dict):
        raise segment.fail("an object")
    if "text" in segment.value:
        return TextSegment(segment.only({"text"}).key("text").text())
    kind = segment.value.get("slot")
    if kind == "history":
        return _history(segment.only(HISTORY_KEYS))
    if kind == "user":
        user = segment.only(USER_KEYS)
        return UserSegment(user.key("bins").integer(1, USER_BINS_MAX),
                           user.key("before").text(), user.key("after").text())
    if kind not in ("profile", "scene"):
        raise segment.key("slot").fail(
            '"profile", "user", "history" or "scene" (or a segment with "text")')
    segment.only(VALUE_KEYS)
    values = None
    if not segment.key("values").absent:
        values = segment.key("values").texts_by_name()
    default = None if segment.key("default").absent else segment.key("default").text()
    if values is not None and default is not None and default not in values:
        raise segment.key("default").fail(f"one of {', '.join(values)}")
    return ValueSegment(kind, segment.key("key").text(filled=True), segment.key("before").text(),
                        segment.key("after").text(), values, default)


def _history(history: _Field) -> HistorySegment:
    gaps = []
    for gap in history.key("timeGaps", []).list():
        gap.only({"atLeastSeconds", "text"})
        seconds = gap.key("atLeastSeconds").integer(0, 3_155_760_000)
        if gaps and seconds <= gaps[-1][0]:
            raise gap.fail(f"atLeastSeconds in ascending order, the one before is {gaps[-1][0]}")
        gaps.append((seconds, gap.key("text").text()))
    merge = history.key("mergeRepeatsSeconds")
    return HistorySegment(
        history.key("separator").text(), history.key("before").text(), history.key("after").text(),
        history.key("actions").names(), history.key("domains").names(),
        history.key("actionTexts", {}).texts_by_name(), tuple(gaps),
        None if merge.absent else merge.integer(0, 3_155_760_000),
        history.key("maxItems", HISTORY_ITEMS_MAX).integer(1, HISTORY_ITEMS_MAX))
