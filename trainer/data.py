"""Readers of semantic ID indexes and titles.

Formats: indexes are `{"item": [codes]}` or `{"item": ["<a_1>", ...]}` (MiniOneRec, LETTER); titles
are TSV with a header or LETTER's `{"item": {"title": ...}}`. A name that ends in `.gz` is read
through gzip.
"""

import gzip
import json
import math
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .errors import InputError
from .tsv import check_once, tsv_rows

UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
MAX_DEPTH = 32
MAX_CODE = 1 << 20
MAX_ITEM_ID_LENGTH = 128
MAX_ATTRIBUTE_LENGTH = 200
LARGEST = sys.float_info.max
CODE_IN_TOKEN = re.compile(r"^(?P<before>\D*)(?P<code>0|[1-9]\d{0,6})(?P<after>\D*)$")


@dataclass(frozen=True)
class SidIndex:
    """Semantic IDs of all items, as level-local codes; `depth` is that of the deepest.

    `patterns` holds one token pattern per level (`<a_{code}>`); `from_tokens` tells that the
    index named the tokens itself, and so that only these tokens exist.
    """

    codes: dict[str, tuple[int, ...]]
    depth: int
    patterns: list[str]
    from_tokens: bool
    codebook_sizes: tuple[int, ...] = ()

    def level_sizes(self) -> list[int]:
        """Highest code plus one, for each level, or what codebooks have where that is more."""
        sizes = [max(sid[level] for sid in self.codes.values() if len(sid) > level) + 1
                 for level in range(self.depth)]
        return [max(pair) for pair in zip(sizes, self.codebook_sizes or sizes, strict=True)]


@dataclass
class ItemText:
    """Text about an item for people."""

    title: str = ""
    attributes: dict[str, Any] = field(default_factory=dict)
    priority: float = 0.0


def read_text(path: Path) -> str:
    """Whole text of a plain or gzip file, without a byte order mark; UTF-8 is checked."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise InputError(str(path), "a readable file", error.strerror) from error
    if path.name.endswith(".gz"):
        try:
            raw = gzip.decompress(raw)
        except (OSError, EOFError) as error:
            raise InputError(str(path), "a whole gzip file", str(error)) from error
    if raw[:2] in UTF16_MARKS:
        raise InputError(str(path), "UTF-8", "UTF-16")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} at byte {error.start}", "UTF-8", error.reason) from error


def _unique_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise InputError(f"key {key!r}", "one entry per key", "a second one")
        found[key] = value
    return found


def read_json(path: Path) -> Any:
    """One JSON document in which no object repeats a key."""
    try:
        return json.loads(read_text(path), object_pairs_hook=_unique_pairs)
    except InputError as error:
        if str(error).startswith("key "):
            raise InputError(str(path), "unique keys", str(error)) from error
        raise
    except json.JSONDecodeError as error:
        where = f"{path} line {error.lineno} column {error.colno}"
        raise InputError(where, "JSON", error.msg) from error
    except ValueError as error:  # an integer of thousands of digits
        raise InputError(str(path), "JSON with numbers of usual sizes", str(error)) from error


def item_id_of(value: Any, where: str) -> str:
    """The text of an item id; refuses what is none."""
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise InputError(where, "an item id (text or integer)", value)
    text = str(value)
    if not 0 < len(text) <= MAX_ITEM_ID_LENGTH:
        raise InputError(where, f"an item id of 1 to {MAX_ITEM_ID_LENGTH} characters", value)
    return text


def level_pattern(level: int) -> str:
    """How the codes of a level are written where nothing says how."""
    name = chr(ord("a") + level) if level < 26 else f"l{level}"
    return f"<{name}_{{code}}>"


def read_index(path: Path) -> SidIndex:
    """Reads and checks an index file. Items may have different depths; the levels that they share
    have one pattern."""
    document = read_json(path)
    if not isinstance(document, dict) or not document:
        raise InputError(str(path), "an object {item: [codes]} with at least one item", document)
    codes: dict[str, tuple[int, ...]] = {}
    patterns: list[str] | None = None
    from_tokens = None
    for key, sid in document.items():
        where = f"{path}: item {key!r}"
        item = item_id_of(key, where)
        if not isinstance(sid, list) or not 0 < len(sid) <= MAX_DEPTH:
            raise InputError(where, f"a list of 1 to {MAX_DEPTH} codes", sid)
        is_tokens = isinstance(sid[0], str)
        if from_tokens is None:
            from_tokens = is_tokens
        if is_tokens != from_tokens:
            raise InputError(where, "tokens" if from_tokens else "integer codes", sid)
        parsed = [_parse_code(code, is_tokens, f"{where} level {i}") for i, code in enumerate(sid)]
        shape = [pattern for pattern, _ in parsed]
        if patterns is None:
            patterns = shape
        shared = min(len(shape), len(patterns))
        if shape[:shared] != patterns[:shared]:
            raise InputError(where, f"the level patterns {patterns}", sid)
        patterns = max(patterns, shape, key=len)
        codes[item] = tuple(code for _, code in parsed)
    depth = max(map(len, codes.values()))
    if not from_tokens:
        patterns = [level_pattern(level) for level in range(depth)]
    return SidIndex(codes, depth, patterns or [], bool(from_tokens))


def _parse_code(code: Any, is_token: bool, where: str) -> tuple[str, int]:
    if not is_token:
        if isinstance(code, bool) or not isinstance(code, int) or not 0 <= code < MAX_CODE:
            raise InputError(where, f"an integer code from 0 to {MAX_CODE - 1}", code)
        return "", code
    found = CODE_IN_TOKEN.match(code) if isinstance(code, str) else None
    if found is None or not (found["before"] or found["after"]):
        raise InputError(where, "a token with one decimal code, such as <a_12>", code)
    if int(found["code"]) >= MAX_CODE:
        raise InputError(where, f"a code below {MAX_CODE}", code)
    return f"{found['before']}{{code}}{found['after']}", int(found["code"])


def read_titles(path: Path) -> dict[str, ItemText]:
    """Item -> title and short attributes; items that the index lacks are not an error."""
    if ".tsv" in path.name:
        return _read_tsv_titles(path)
    document = read_json(path)
    if not isinstance(document, dict):
        raise InputError(str(path), "an object {item: {title}} or {item: title}", document)
    texts: dict[str, ItemText] = {}
    for item, value in document.items():
        where = f"{path}: item {item!r}"
        item_id_of(item, where)
        if isinstance(value, str):
            texts[item] = ItemText(value)
        elif isinstance(value, dict):
            texts[item] = ItemText(str(value.get("title", "")),
                                   _short_attributes(value, where),
                                   _priority(value.get("priority", 0), where))
        else:
            raise InputError(where, "a title or an object", value)
    return texts


def _short_attributes(fields: dict[str, Any], where: str) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for name, value in fields.items():
        if name in ("title", "description", "priority") or isinstance(value, (dict, list, bool)):
            continue
        if isinstance(value, (int, float)):
            if not -LARGEST <= value <= LARGEST:
                raise InputError(f"{where}: {name}", "a number", value)
            kept[name] = value
        elif isinstance(value, str) and 0 < len(value) <= MAX_ATTRIBUTE_LENGTH:
            kept[name] = value
    return kept


def _read_tsv_titles(path: Path) -> dict[str, ItemText]:
    rows = tsv_rows(path, read_text(path))
    _, header = next(rows, ("", []))
    if "title" not in header:
        raise InputError(f"{path} line 1", "a header with a column `title`", header)
    check_once(path, header, [name for name in header if name and not name.startswith("sid")])
    key = header.index("item") if "item" in header else 0
    texts: dict[str, ItemText] = {}
    for where, row in rows:
        item = item_id_of(row[key], where)
        if item in texts:
            raise InputError(where, "an item that no line before has", item)
        fields = dict(zip(header, row))
        attributes = {name: value for name, value in fields.items()
                      if name != header[key] and not name.startswith("sid")}
        priority = _priority(fields.get("priority", "0"), where)
        texts[item] = ItemText(fields["title"], _short_attributes(attributes, where), priority)
    return texts


def _priority(value: Any, where: str) -> float:
    try:
        found = float(value)
    except (TypeError, ValueError, OverflowError):
        found = math.nan
    if not math.isfinite(found):
        raise InputError(f"{where}: priority", "a number", value)
    return found
