"""`python -m trainer sequences`: a log of behaviours to the sequences that `train` takes."""

import argparse
import csv
import io
import json
import math
from pathlib import Path

from .checkpoint import write_atomically
from .data import item_id_of, read_text, read_titles
from .errors import InputError

USER_COLUMNS = ("user", "user_id")
ITEM_COLUMNS = ("item", "item_id")
TIME_COLUMNS = ("time", "time_ms", "timestamp", "unix_ts")

#: User -> (time, item).
Log = dict[str, list[tuple[float, str]]]


def _column(path: Path, header: list[str], names: tuple[str, ...], asked: str | None) -> int:
    known = [name for name in ((asked,) if asked else names) if name in header]
    if not known:
        expected = f"a column {asked}" if asked else f"one of the columns {', '.join(names)}"
        raise InputError(f"{path} line 1", expected, header)
    return header.index(known[0])


def read_log(path: Path, user: str | None = None, item: str | None = None,
             time: str | None = None) -> Log:
    """User -> (time, item), oldest first; those of one time in the order of the file, those without
    a time left out."""
    rows = csv.reader(io.StringIO(read_text(path)), delimiter="\t", quoting=csv.QUOTE_NONE)
    header = next(rows, None) or []
    columns = [_column(path, header, names, asked) for names, asked in
               ((USER_COLUMNS, user), (ITEM_COLUMNS, item), (TIME_COLUMNS, time))]
    found: Log = {}
    timeless = 0
    for number, row in enumerate(rows, 2):
        where = f"{path} line {number}"
        if len(row) != len(header):
            raise InputError(where, f"{len(header)} columns", len(row))
        who, what, when = (row[column] for column in columns)
        if not when:
            timeless += 1
            continue
        if not who:
            raise InputError(f"{where}: {header[columns[0]]}", "a user", who)
        found.setdefault(who, []).append(
            (_moment(when, f"{where}: {header[columns[2]]}"), item_id_of(what, where)))
    if not found:
        raise InputError(str(path), "a behaviour", "none")
    if timeless:
        print(f"{timeless} behaviours have no time, and are left out")
    for behaviours in found.values():
        behaviours.sort(key=lambda behaviour: behaviour[0])
    return found


def _moment(text: str, where: str) -> float:
    try:
        moment = float(text)
    except ValueError:
        moment = math.nan
    if not math.isfinite(moment):
        raise InputError(where, "a number", text)
    return moment


def _of_known(log: Log, items: set[str]) -> Log:
    known = {user: [each for each in behaviours if each[1] in items]
             for user, behaviours in log.items()}
    count = sum(map(len, log.values())) - sum(map(len, known.values()))
    if count:
        print(f"{count} behaviours are of items that --items lacks, and left out")
    return known


def run(args: argparse.Namespace) -> None:
    """Writes JSON lines `{"user", "history", "times"}`; prints what it left out."""
    log = read_log(Path(args.behaviours), args.user_column, args.item_column, args.time_column)
    if args.items:
        log = _of_known(log, set(read_titles(Path(args.items))))
    lines = []
    for user, behaviours in log.items():
        if len(behaviours) >= args.least_items:
            lines.append(json.dumps({"user": user, "history": [item for _, item in behaviours],
                                     "times": [time for time, _ in behaviours]},
                                    ensure_ascii=False))
    if not lines:
        raise InputError(args.behaviours, f"a user of {args.least_items} behaviours", "none")
    write_atomically(Path(args.out), ("\n".join(lines) + "\n").encode())
    print(f"{args.out}: {len(lines)} users; {len(log) - len(lines)} with fewer than "
          f"{args.least_items} behaviours are left out")
