"""Behaviours of users: from a file of JSON lines, or from a service that runs."""

import argparse
import io
import json
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from tessera_client import TesseraError
from tessera_client.commands import client_of

from .data import read_text
from .errors import InputError
from .history import NO_SCENE, Behaviour, User, Users
from .sequences import texts_by_name
from .times import check_time

HISTORY_LIMIT = 1000
CALL_MS = 30_000


def read_file(path: Path, profiles: Mapping[str, Mapping[str, str]]) -> Users:
    """JSON lines `{"user_id", "item_id", "time_ms", "action"?, "scene"?}`, gzipped where the name
    ends in .gz."""
    done: dict[str, list[Behaviour]] = {}
    for number, line in enumerate(io.StringIO(read_text(path)), 1):
        where = f"{path}:{number}"
        try:
            row = json.loads(line)
        except ValueError as error:
            raise InputError(where, "a JSON object", line.strip()) from error
        user = _text(where, row, "user_id")
        moment = row.get("time_ms")
        if not isinstance(moment, int | float) or isinstance(moment, bool):
            raise InputError(f"{where}: time_ms", "milliseconds since 1970", moment)
        scene = texts_by_name(row.get("scene") or {}, f"{where}: scene") or NO_SCENE
        seconds = check_time(float(moment), f"{where}: time_ms", "milliseconds")
        action = _text(where, row, "action") if row.get("action") else ""
        behaviour = Behaviour(_text(where, row, "item_id"), seconds, action, scene)
        done.setdefault(user, []).append(behaviour)
    return {user: _ordered(behaviours, profiles.get(user, {}))
            for user, behaviours in done.items()}


def ask(args: argparse.Namespace, users: Iterable[str]) -> Users:
    """Of BehaviourService at `args.address`; users that it does not know are left out."""
    found: Users = {}
    try:
        with client_of(args) as client:
            for user in users:
                try:
                    answer = client.history(user, limit=HISTORY_LIMIT, deadline_ms=CALL_MS)
                except TesseraError as error:
                    if error.code == "USER_NOT_FOUND":
                        continue
                    raise
                found[user] = _ordered(
                    [Behaviour(b.item_id, b.time_ms / 1000, b.action, dict(b.scene))
                     for b in answer.behaviours], dict(answer.profile))
    except (TesseraError, OSError, ValueError) as error:
        raise InputError(args.address, "an answer of BehaviourService", str(error)) from error
    return found


def recent_from(users: Users, hours: float, now: float | None = None) -> float:
    """The moment `hours` before the newest behaviour, or before `now` where that is earlier."""
    newest = max((b.time for user in users.values() for b in user.behaviours), default=0.0)
    return min(newest, time.time() if now is None else now) - 3600 * hours


def _ordered(behaviours: list[Behaviour], profile: Mapping[str, str]) -> User:
    return User(sorted(behaviours, key=lambda behaviour: behaviour.time), profile)


def _text(where: str, row: object, field: str) -> str:
    value = row.get(field) if isinstance(row, dict) else None
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or not value:
        raise InputError(f"{where}: {field}", "text", value)
    return value
