"""`python -m trainer sequences`: a log of behaviours to the sequences that `train` takes."""

import argparse
import io
import json
import math
from dataclasses import dataclass
from pathlib import Path

from .checkpoint import write_atomically
from .data import item_id_of, read_text, read_titles
from .errors import InputError
from .history import NO_SCENE, Behaviour
from .sequences import texts_by_name
from .times import check_time
from .tsv import check_once, tsv_rows

USER_COLUMNS = ("user", "user_id")
ITEM_COLUMNS = ("item", "item_id")
TIME_COLUMNS = ("time", "time_ms", "timestamp", "unix_ts")

ACTION_COLUMNS = ("action", "event_type", "event")
#: Of times in milliseconds; all others are in seconds.
MILLISECONDS = "time_ms"

#: User -> behaviours, oldest first.
Log = dict[str, list[Behaviour]]


@dataclass(frozen=True)
class Columns:
    """Names of columns where they are not the usual ones; `scenes` become the scene of a behaviour,
    each under its own name."""

    user: str | None = None
    item: str | None = None
    time: str | None = None
    action: str | None = None
    scenes: tuple[str, ...] = ()


def _column(path: Path, header: list[str], names: tuple[str, ...], asked: str | None) -> int:
    known = [name for name in ((asked,) if asked else names) if name in header]
    if not known:
        expected = f"a column {asked}" if asked else f"one of the columns {', '.join(names)}"
        raise InputError(f"{path} line 1", expected, header)
    check_once(path, header, known[:1])
    return header.index(known[0])


def read_log(path: Path, names: Columns | None = None) -> Log:
    """User -> behaviours, oldest first; those of one time in the order of the file (the service: in
    the order in which they arrive), those without a time left out; a row that repeats user, item,
    time and action of another counts once. A scene has the columns that are not empty."""
    names = names or Columns()
    rows = tsv_rows(path, read_text(path))
    _, header = next(rows, ("", []))
    columns = [_column(path, header, usual, asked) for usual, asked in
               ((USER_COLUMNS, names.user), (ITEM_COLUMNS, names.item), (TIME_COLUMNS, names.time))]
    action = None
    if names.action or any(name in header for name in ACTION_COLUMNS):
        action = _column(path, header, ACTION_COLUMNS, names.action)
    scenes = {name: _column(path, header, (), name) for name in names.scenes}
    unit = "milliseconds" if header[columns[2]] == MILLISECONDS else "seconds"
    found: Log = {}
    timeless = repeated = 0
    known: set[tuple[str, ...]] = set()
    for where, row in rows:
        who, what, when = (row[column] for column in columns)
        if not when:
            timeless += 1
            continue
        if not who:
            raise InputError(f"{where}: {header[columns[0]]}", "a user", who)
        place = f"{where}: {header[columns[2]]}"
        moment = check_time(_moment(when, place), place, unit)
        doing = "" if action is None else row[action]
        if (who, what, when, doing) in known:
            repeated += 1
            continue
        known.add((who, what, when, doing))
        scene = {name: row[column] for name, column in scenes.items() if row[column]}
        found.setdefault(who, []).append(
            Behaviour(item_id_of(what, where), moment, doing, scene or NO_SCENE))
    if not found:
        raise InputError(str(path), "a behaviour", "none")
    if timeless:
        print(f"{timeless} behaviours have no time, and are left out")
    if repeated:
        print(f"{repeated} rows repeat user, item, time and action of another, and count once")
    for behaviours in found.values():
        behaviours.sort(key=lambda behaviour: behaviour.time)
    _print_ties(found)
    return found


def read_profiles(path: Path) -> dict[str, dict[str, str]]:
    """User -> profile, of JSON lines `{"user" | "user_id", "profile": {key: text}}` or of a TSV
    with a header: the user, and a column for each key, whose empty cells are no value."""
    profiles: dict[str, dict[str, str]] = {}
    if ".tsv" in path.name:
        rows = tsv_rows(path, read_text(path))
        _, header = next(rows, ("", []))
        user = _column(path, header, USER_COLUMNS, None)
        check_once(path, header, header)
        for _, row in rows:
            profiles[row[user]] = {name: text for column, (name, text) in
                                   enumerate(zip(header, row, strict=True))
                                   if column != user and text}
        return profiles
    for number, line in enumerate(io.StringIO(read_text(path)), 1):
        where = f"{path} line {number}"
        try:
            row = json.loads(line)
            name = row.get("user", row.get("user_id"))
        except (ValueError, AttributeError) as error:
            raise InputError(where, "a JSON object with user and profile", line.strip()) from error
        if name is None:
            raise InputError(where, "a JSON object with user and profile", row)
        profiles[str(name)] = texts_by_name(row.get("profile"), f"{where} profile")
    return profiles


def _moment(text: str, where: str) -> float:
    try:
        moment = float(text)
    except ValueError:
        moment = math.nan
    if not math.isfinite(moment):
        raise InputError(where, "a number", text)
    return moment


def _print_ties(log: Log) -> None:
    ties = sum(one.time == other.time for behaviours in log.values()
               for one, other in zip(behaviours, behaviours[1:]))
    count = sum(map(len, log.values()))
    if ties:
        print(f"{ties / count:.1%} of the behaviours have the time of the one before: they are in "
              "the order of the file, as the service keeps the order in which they arrive")


def _of_known(log: Log, items: set[str]) -> Log:
    known = {user: [one for one in behaviours if one.item in items]
             for user, behaviours in log.items()}
    count = sum(map(len, log.values())) - sum(map(len, known.values()))
    if count:
        print(f"{count} behaviours are of items that --items lacks, and left out")
    return known


def _line(user: str, behaviours: list[Behaviour], profile: dict[str, str]) -> str:
    row: dict[str, object] = {"user": user, "history": [one.item for one in behaviours],
                              "times": [one.time for one in behaviours]}
    if any(one.action for one in behaviours):
        row["actions"] = [one.action for one in behaviours]
    if any(one.scene for one in behaviours):
        row["scenes"] = [one.scene for one in behaviours]
    if profile:
        row["profile"] = profile
    return json.dumps(row, ensure_ascii=False)


def run(args: argparse.Namespace) -> None:
    """Writes JSON lines of sequences (`sequences.py`); prints what it left out."""
    names = Columns(args.user_column, args.item_column, args.time_column, args.action_column,
                    tuple(args.scene_columns))
    log = read_log(Path(args.behaviours), names)
    if args.items:
        log = _of_known(log, set(read_titles(Path(args.items))))
    profiles = read_profiles(Path(args.profiles)) if args.profiles else {}
    lines = [_line(user, behaviours, profiles.get(user, {})) for user, behaviours in log.items()
             if len(behaviours) >= args.least_items]
    if not lines:
        raise InputError(args.behaviours, f"a user of {args.least_items} behaviours", "none")
    write_atomically(Path(args.out), ("\n".join(lines) + "\n").encode())
    print(f"{args.out}: {len(lines)} users; {len(log) - len(lines)} with fewer than "
          f"{args.least_items} behaviours are left out")
