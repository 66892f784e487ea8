"""Behaviours of users: from a file of JSON lines, or from a service that runs."""

import argparse
import gzip
import json
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tessera_client import TesseraError
from tessera_client.commands import client_of

from .errors import InputError

HISTORY_LIMIT = 1000
CALL_MS = 30_000


@dataclass(frozen=True)
class Behaviour:
    """One thing that a user did, `time` in seconds since 1970."""

    item: str
    time: float


Histories = dict[str, list[Behaviour]]


def read_file(path: Path) -> Histories:
    """JSON lines `{"user_id", "item_id", "time_ms"}`, gzipped where the name ends in .gz."""
    histories: Histories = {}
    opened = gzip.open(path, "rt") if path.suffix == ".gz" else path.open()
    with opened as lines:
        for number, line in enumerate(lines, 1):
            where = f"{path}:{number}"
            try:
                row = json.loads(line)
            except ValueError as error:
                raise InputError(where, "a JSON object", line.strip()) from error
            user = _text(where, row, "user_id")
            moment = row.get("time_ms")
            if not isinstance(moment, int | float) or isinstance(moment, bool):
                raise InputError(f"{where}: time_ms", "milliseconds since 1970", moment)
            behaviour = Behaviour(_text(where, row, "item_id"), moment / 1000)
            histories.setdefault(user, []).append(behaviour)
    return _ordered(histories)


def ask(args: argparse.Namespace, users: Iterable[str]) -> Histories:
    """Of BehaviourService at `args.address`; users that it does not know are left out."""
    histories: Histories = {}
    try:
        with client_of(args) as client:
            for user in users:
                try:
                    answer = client.history(user, limit=HISTORY_LIMIT, deadline_ms=CALL_MS)
                except TesseraError as error:
                    if error.code == "USER_NOT_FOUND":
                        continue
                    raise
                histories[user] = [Behaviour(b.item_id, b.time_ms / 1000)
                                   for b in answer.behaviours]
    except (TesseraError, OSError, ValueError) as error:
        raise InputError(args.address, "an answer of BehaviourService", str(error)) from error
    return _ordered(histories)


def recent_from(histories: Histories, hours: float, now: float | None = None) -> float:
    """The moment `hours` before the newest behaviour, or before `now` where that is earlier."""
    newest = max((b.time for history in histories.values() for b in history), default=0.0)
    return min(newest, time.time() if now is None else now) - 3600 * hours


def _ordered(histories: Histories) -> Histories:
    for history in histories.values():
        history.sort(key=lambda behaviour: behaviour.time)
    return histories


def _text(where: str, row: object, field: str) -> str:
    value = row.get(field) if isinstance(row, dict) else None
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or not value:
        raise InputError(f"{where}: {field}", "text", value)
    return value
