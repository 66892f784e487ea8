"""Reader of user sequences.

Formats: `{"user": [item ids, oldest first]}` (LETTER's inter.json, the Beauty file), or JSON lines
`{"user", "history", "target"?, "times"?, "actions"?, "scenes"?, "profile"?}`, where each of the
three lists has one entry per item, those of the target included. A name that ends in `.gz` is read
through gzip.
"""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .data import SidIndex, item_id_of, read_json, read_text
from .errors import InputError
from .history import NO_SCENE, Behaviour, User, Users
from .times import check_time

def read_users(path: Path, index: SidIndex | None = None) -> Users:
    """User -> what they did, oldest first, and their profile.

    Of several JSON lines for one user the longest (the later of equals) is kept: rows of a
    rolling split repeat each other, and merging them would leak held-out targets.
    """
    if path.name.removesuffix(".gz").endswith((".jsonl", ".ndjson")):
        users = _read_lines(path)
    else:
        document = read_json(path)
        if not isinstance(document, dict):
            raise InputError(str(path), "an object {user: [item ids]}", document)
        users = {user: User([Behaviour(item) for item in _items(items, f"{path}: user {user!r}")])
                 for user, items in document.items()}
    if not users:
        raise InputError(str(path), "at least one user", "none")
    if index is not None:
        _check_known(users, index, str(path))
    return users


def _items(value: Any, where: str) -> list[str]:
    if not isinstance(value, list):
        raise InputError(where, "a list of item ids", value)
    return [item_id_of(item, f"{where} position {i}") for i, item in enumerate(value)]


def _read_lines(path: Path) -> Users:
    users: Users = {}
    for number, line in enumerate(io.StringIO(read_text(path)), 1):
        if not line.strip():
            continue
        where = f"{path} line {number}"
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise InputError(where, "a JSON object", error.msg) from error
        if not isinstance(row, dict) or "user" not in row or "history" not in row:
            raise InputError(where, "an object with user, history and maybe target", row)
        name, user = str(row["user"]), _user(row, where)
        if name not in users or len(user.behaviours) >= len(users[name].behaviours):
            users[name] = user
    return users


def _user(row: dict[str, Any], where: str) -> User:
    items = _items(row["history"], f"{where} history")
    if row.get("target") is not None:
        items = items + [item_id_of(row["target"], f"{where} target")]
    times = _times(row.get("times"), len(items), f"{where} times")
    actions = _list_of(_action, row.get("actions"), len(items), f"{where} actions", "")
    scenes = _list_of(texts_by_name, row.get("scenes"), len(items), f"{where} scenes", NO_SCENE)
    profile = texts_by_name(row.get("profile") or {}, f"{where} profile")
    return User([Behaviour(*of_one) for of_one in zip(items, times, actions, scenes, strict=True)],
                profile)


def _list_of(read: Callable[[Any, str], Any], value: Any, count: int, where: str,
             absent: Any) -> list[Any]:
    """One per item; all absent where there is no list."""
    if value is None:
        return [absent] * count
    if not isinstance(value, list) or len(value) != count:
        name = where.rsplit(" ", 1)[-1]
        got = len(value) if isinstance(value, list) else value
        raise InputError(where, f"{count} {name}, one per item", got)
    return [read(one, f"{where}[{place}]") for place, one in enumerate(value)]


def _times(value: Any, count: int, where: str) -> list[float]:
    times = _list_of(_moment, value, count, where, 0.0)
    for place, moment in enumerate(times):
        if place and moment < times[place - 1]:
            raise InputError(f"{where}[{place}]", "times in order, oldest first", moment)
    return times


def _moment(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InputError(where, "a number", value)
    return check_time(float(value), where)


def _action(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise InputError(where, "the text of an action", value)
    return value


def texts_by_name(value: Any, where: str) -> dict[str, str]:
    """A profile or a scene: texts by their keys."""
    if not isinstance(value, dict):
        raise InputError(where, "an object of texts", value)
    for name, text in value.items():
        if not isinstance(text, str):
            raise InputError(f"{where}.{name}", "a text", text)
    return value


def _check_known(users: Users, index: SidIndex, where: str) -> None:
    for name, user in users.items():
        for position, behaviour in enumerate(user.behaviours):
            if behaviour.item not in index.codes:
                raise InputError(f"{where}: user {name!r} position {position}",
                                 "an item of the index", behaviour.item)
