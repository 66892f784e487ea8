"""The state of a trainer that follows, between its cycles: behaviours, cursors of sources and
cycles, in one SQLite file that one process holds."""

import fcntl
import hashlib
import json
import sqlite3
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import InputError
from ..history import NO_SCENE, Behaviour

#: Rows that a cycle chooses among: a window of days may have millions.
ROWS_MAX = 200_000
#: Above every id.
HIGHEST = 2 ** 62
#: States of a cycle that is over; only in the first has the version served.
ENDED = ("active", "dropped", "refused")
SCHEMA = """
CREATE TABLE IF NOT EXISTS behaviours (
  id INTEGER PRIMARY KEY AUTOINCREMENT, user TEXT NOT NULL, item TEXT NOT NULL,
  time_ms INTEGER NOT NULL, action TEXT NOT NULL, request TEXT NOT NULL, place INTEGER NOT NULL,
  scene TEXT NOT NULL, UNIQUE (user, time_ms, item, action, request));
CREATE INDEX IF NOT EXISTS by_request ON behaviours (user, request) WHERE request <> '';
CREATE INDEX IF NOT EXISTS by_action ON behaviours (action, id);
CREATE TABLE IF NOT EXISTS shown (
  id INTEGER PRIMARY KEY AUTOINCREMENT, user TEXT NOT NULL, request TEXT NOT NULL,
  time_ms INTEGER NOT NULL, scene TEXT NOT NULL, items TEXT NOT NULL, UNIQUE (user, request));
CREATE TABLE IF NOT EXISTS keys (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS cycles (
  id INTEGER PRIMARY KEY AUTOINCREMENT, state TEXT NOT NULL, base TEXT NOT NULL,
  parent TEXT NOT NULL, after INTEGER NOT NULL, upto INTEGER NOT NULL,
  shown_after INTEGER NOT NULL, shown_upto INTEGER NOT NULL, seed INTEGER NOT NULL,
  begun_ms INTEGER NOT NULL, learned_until_ms INTEGER NOT NULL,
  digest TEXT NOT NULL DEFAULT '', notes TEXT NOT NULL DEFAULT '{}');
CREATE TABLE IF NOT EXISTS chosen (
  cycle INTEGER NOT NULL, behaviour INTEGER NOT NULL, is_new INTEGER NOT NULL,
  PRIMARY KEY (cycle, behaviour)) WITHOUT ROWID;
"""


class Fact(NamedTuple):
    """A behaviour as a source has it. `request`: of the recall that showed the item, "" where it is
    not known; `place`: where it was shown, from 1, 0 where it is not known; `scene`: as JSON."""

    user: str
    item: str
    time_ms: int
    action: str
    request: str = ""
    place: int = 0
    scene: str = "{}"


class Recall(NamedTuple):
    """Items that a user was shown, in their order. `scene`: as JSON."""

    user: str
    request: str
    time_ms: int
    items: list[str]
    scene: str = "{}"


class Row(NamedTuple):
    """A behaviour as guards see it."""

    id: int
    user: str
    item: str
    time_ms: int
    action: str


@dataclass(frozen=True)
class Example:
    """A behaviour to learn, and what its user did before the recall that showed it. `request`: of
    that recall, "" where it is not known."""

    user: str
    answer: Behaviour
    history: list[Behaviour]
    request: str = ""


@dataclass(frozen=True)
class Shown:
    """A recall, and what its user had done before it."""

    user: str
    request: str
    time_ms: int
    items: list[str]
    scene: Mapping[str, str]
    history: list[Behaviour]


@dataclass(frozen=True)
class Cycle:
    """A round. Its new examples have ids in (after, upto], its recalls in (shown_after,
    shown_upto]; `parent`: digest of the version that it goes on from, "" of the base model;
    `notes`: figures and reasons of the steps so far."""

    id: int
    state: str
    base: str
    parent: str
    after: int
    upto: int
    shown_after: int
    shown_upto: int
    seed: int
    begun_ms: int
    learned_until_ms: int
    digest: str
    notes: dict[str, Any]


class Store:
    """`folder` is held until `close`, or until the process ends, unless it is only read. `context`:
    behaviours before an example that its prompt may show. Errors: InputError where another process
    holds it, or it cannot be made or read."""

    def __init__(self, folder: Path, context: int = 100, reads: bool = False) -> None:
        self.context, self.folder = context, folder
        if reads and not (folder / "follow.sqlite").exists():
            raise InputError(f"--state {folder}", "the state of a `follow`", "none")
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self.lock = (folder / ("lock.readers" if reads else "lock")).open("w")
            if not reads:
                self._hold()
            self.db = sqlite3.connect(folder / "follow.sqlite", isolation_level=None)
            self.db.execute("PRAGMA auto_vacuum = INCREMENTAL")
            self.db.execute("PRAGMA secure_delete = ON")
            self.db.execute("PRAGMA journal_mode = WAL")
            self.db.execute("PRAGMA synchronous = NORMAL")
            self.db.executescript(SCHEMA)
        except (OSError, sqlite3.Error) as error:
            raise InputError(f"--state {folder}", "a folder with a store, or one that can be "
                             "written to", str(error)) from error

    def _hold(self) -> None:
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise InputError(f"--state {self.folder}", "a folder that no other process uses",
                             "one that is held") from error

    def close(self) -> None:
        self.db.close()
        self.lock.close()

    @contextmanager
    def whole(self) -> Iterator[None]:
        """All of it is kept, or nothing."""
        self.db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self.db.execute("ROLLBACK")
            raise
        self.db.execute("COMMIT")

    def key(self, name: str) -> Any:
        found = self.db.execute("SELECT value FROM keys WHERE name = ?", (name,)).fetchone()
        return None if found is None else json.loads(found[0])

    def set_key(self, name: str, value: Any) -> None:
        self.db.execute("INSERT OR REPLACE INTO keys VALUES (?, ?)", (name, json.dumps(value)))

    def holder(self, host: str) -> str:
        """The name under which this store's follower pushes; the same after each start."""
        found = self.key("holder")
        if found is None:
            short = "".join(c for c in host.lower() if c.isascii() and c.isalnum())[:24]
            found = f"follow-{short}-{uuid.uuid4().hex[:12]}"
            self.set_key("holder", found)
        return found

    def add(self, facts: Sequence[Fact], recalls: Sequence[Recall], source: str,
            cursor: Any) -> int:
        """Facts, recalls and the cursor behind them, in one transaction; returns how many facts
        were not there yet."""
        with self.whole():
            self.db.executemany("INSERT OR IGNORE INTO shown (user, request, time_ms, items, scene)"
                                " VALUES (?, ?, ?, ?, ?)",
                                [(*one[:3], json.dumps(one.items), one.scene) for one in recalls])
            before = self.db.total_changes
            self.db.executemany("INSERT OR IGNORE INTO behaviours "
                                "(user, item, time_ms, action, request, place, scene) "
                                "VALUES (?, ?, ?, ?, ?, ?, ?)", facts)
            added = self.db.total_changes - before
            self.set_key(f"cursor {source}", cursor)
        return added

    def cursor(self, source: str) -> Any:
        return self.key(f"cursor {source}")

    def rows(self, after: int, upto: int, actions: Sequence[str]) -> list[Row]:
        """Behaviours of these actions with ids in (after, upto], the newest `ROWS_MAX` that came,
        in the order of time."""
        found = self.db.execute(
            f"SELECT id, user, item, time_ms, action FROM behaviours WHERE id > ? AND id <= ? "
            f"AND action IN ({','.join('?' * len(actions))}) ORDER BY id DESC LIMIT ?",
            (after, upto, *actions, ROWS_MAX))
        return sorted((Row(*row) for row in found), key=lambda row: (row.time_ms, row.id))

    def count(self, after: int, actions: Sequence[str]) -> int:
        """Behaviours of these actions that came behind an id."""
        return self.db.execute(
            f"SELECT count(*) FROM behaviours WHERE id > ? AND action IN "
            f"({','.join('?' * len(actions))})", (after, *actions)).fetchone()[0]

    def newest(self) -> tuple[int, int]:
        """Highest ids of behaviours and of recalls, 0 without any."""
        return self.db.execute("SELECT (SELECT coalesce(max(id), 0) FROM behaviours), "
                               "(SELECT coalesce(max(id), 0) FROM shown)").fetchone()

    def newest_ms(self, upto: int, actions: Sequence[str]) -> int:
        """Time of the newest behaviour of these actions with an id up to one; 0 without any."""
        return self.db.execute(
            f"SELECT coalesce(max(time_ms), 0) FROM behaviours WHERE id <= ? AND action IN "
            f"({','.join('?' * len(actions))})", (upto, *actions)).fetchone()[0]

    def examples(self, ids: Iterable[int]) -> list[Example]:
        """Each with what its user had done before the recall that showed it: of one whose recall is
        not known, before itself."""
        found = []
        for one in ids:
            row = self.db.execute("SELECT user, item, time_ms, action, request, scene FROM "
                                  "behaviours WHERE id = ?", (one,)).fetchone()
            if row is None:
                continue
            user, item, time_ms, action, request, scene = row
            asked = time_ms
            if request:
                first = self.db.execute(
                    "SELECT min(time_ms) FROM (SELECT time_ms FROM behaviours WHERE user = ? AND "
                    "request = ? UNION ALL SELECT time_ms FROM shown WHERE user = ? AND request = "
                    "?)", (user, request, user, request)).fetchone()[0]
                asked = min(asked, first)
            found.append(Example(user, _behaviour(item, time_ms, action, scene),
                                 self._history(user, asked), request))
        return found

    def _history(self, user: str, before_ms: int) -> list[Behaviour]:
        rows = self.db.execute(
            "SELECT item, time_ms, action, scene FROM behaviours WHERE user = ? AND time_ms < ? "
            "ORDER BY time_ms DESC, id DESC LIMIT ?", (user, before_ms, self.context)).fetchall()
        return [_behaviour(*row) for row in reversed(rows)]

    def recalls(self, after: int, upto: int) -> list[tuple[int, str]]:
        """Ids and users of recalls with ids in (after, upto]."""
        return self.db.execute("SELECT id, user FROM shown WHERE id > ? AND id <= ? ORDER BY id",
                               (after, upto)).fetchall()

    def recalls_since(self, time_ms: int, upto: int) -> list[tuple[int, str]]:
        """The same from a time on."""
        return self.db.execute("SELECT id, user FROM shown WHERE time_ms >= ? AND id <= ? "
                               "ORDER BY id", (time_ms, upto)).fetchall()

    def shown(self, ids: Iterable[int]) -> list[Shown]:
        found = []
        for one in ids:
            user, request, time_ms, items, scene = self.db.execute(
                "SELECT user, request, time_ms, items, scene FROM shown WHERE id = ?",
                (one,)).fetchone()
            found.append(Shown(user, request, time_ms, json.loads(items), json.loads(scene),
                               self._history(user, time_ms)))
        return found

    def items_shown(self, examples: Sequence[Example]) -> dict[tuple[str, str], list[str]]:
        """Of the recalls of some examples, where they are known."""
        found = {}
        for user, request in {(one.user, one.request) for one in examples if one.request}:
            row = self.db.execute("SELECT items FROM shown WHERE user = ? AND request = ?",
                                  (user, request)).fetchone()
            if row is not None:
                found[user, request] = json.loads(row[0])
        return found

    def taken(self, users: Iterable[str], actions: Sequence[str]) -> set[tuple[str, str, str]]:
        """User, request and item of what users did of these actions."""
        marks = ",".join("?" * len(actions))
        return {row for user in set(users) for row in self.db.execute(
            f"SELECT user, request, item FROM behaviours WHERE user = ? AND action IN ({marks})",
            (user, *actions))}

    def begin(self, cycle: dict[str, Any], notes: dict[str, Any], new: Iterable[int],
              replayed: Iterable[int]) -> Cycle:
        """A cycle in the state `chosen` with its examples: a cycle that is killed goes on with the
        same."""
        with self.whole():
            cycle = cycle | {"notes": json.dumps(notes)}
            names = ", ".join(cycle)
            done = self.db.execute(f"INSERT INTO cycles (state, {names}) VALUES ('chosen'"
                                   f"{', ?' * len(cycle)})", tuple(cycle.values()))
            rows = [(done.lastrowid, one, flag) for ids, flag in ((new, 1), (replayed, 0))
                    for one in ids]
            self.db.executemany("INSERT INTO chosen VALUES (?, ?, ?)", rows)
        return self.cycle(done.lastrowid)

    def chosen(self, cycle: Cycle) -> tuple[list[int], list[int]]:
        """New and replayed examples of a cycle."""
        rows = self.db.execute("SELECT behaviour, is_new FROM chosen WHERE cycle = ? ORDER BY "
                               "behaviour", (cycle.id,)).fetchall()
        return [one for one, new in rows if new], [one for one, new in rows if not new]

    def advance(self, cycle: Cycle, state: str, digest: str | None = None, **notes: Any) -> Cycle:
        """The next state, before anything of it is done."""
        with self.whole():
            self.db.execute("UPDATE cycles SET state = ?, digest = ?, notes = ? WHERE id = ?",
                            (state, cycle.digest if digest is None else digest,
                             json.dumps(cycle.notes | notes), cycle.id))
            if state in ENDED:
                self.db.execute("DELETE FROM chosen WHERE cycle = ?", (cycle.id,))
        return self.cycle(cycle.id)

    def cycle(self, number: int) -> Cycle:
        return _cycle(self.db.execute(f"SELECT {COLUMNS} FROM cycles WHERE id = ?",
                                      (number,)).fetchone())

    def unfinished(self) -> Cycle | None:
        marks = ",".join("?" * len(ENDED))
        row = self.db.execute(f"SELECT {COLUMNS} FROM cycles WHERE state NOT IN ({marks}) "
                              "ORDER BY id DESC LIMIT 1", ENDED).fetchone()
        return None if row is None else _cycle(row)

    def of_version(self, digest: str, before: int = HIGHEST) -> Cycle | None:
        """The newest cycle with an id below `before` that made a version."""
        row = self.db.execute(f"SELECT {COLUMNS} FROM cycles WHERE digest = ? AND id < ? "
                              "ORDER BY id DESC LIMIT 1", (digest, before)).fetchone() \
            if digest else None
        return None if row is None else _cycle(row)

    def lineage(self, digest: str) -> list[Cycle]:
        """The cycles of a version and of those before it, newest first: ids fall, so it ends."""
        found: list[Cycle] = []
        cycle = self.of_version(digest)
        while cycle is not None:
            found.append(cycle)
            cycle = self.of_version(cycle.parent, cycle.id)
        return found

    def prune(self, before_ms: int, rows_max: int, cycles_max: int,
              kept: Sequence[Cycle] = ()) -> int:
        """Forgets behaviours before a time, and the oldest beyond the limit, but of each user the
        newest `context`, which prompts show, as long as the limit allows; cycles beyond theirs,
        but those `kept`: without the cycle of the served version, what it has learned is unknown.
        Returns how many behaviours went."""
        with self.whole():
            first = self.db.total_changes
            self.db.execute(
                "DELETE FROM behaviours WHERE id IN (SELECT id FROM (SELECT id, time_ms, "
                "row_number() OVER (PARTITION BY user ORDER BY time_ms DESC, id DESC) AS place "
                "FROM behaviours) WHERE time_ms < ? AND place > ?)", (before_ms, self.context))
            count = self.db.execute("SELECT count(*) FROM behaviours").fetchone()[0]
            if count > rows_max:
                self.db.execute("DELETE FROM behaviours WHERE id IN (SELECT id FROM behaviours "
                                "ORDER BY time_ms, id LIMIT ?)", (count - rows_max,))
            gone = self.db.total_changes - first
            self.db.execute("DELETE FROM shown WHERE time_ms < ? OR id <= (SELECT max(id) FROM "
                            "shown) - ?", (before_ms, rows_max))
            marks = ",".join("?" * len(ENDED))
            held = ",".join("?" * len(kept))
            self.db.execute(f"DELETE FROM cycles WHERE state IN ({marks}) AND id NOT IN ({held}) "
                            "AND id NOT IN (SELECT id FROM cycles ORDER BY id DESC LIMIT ?)",
                            (*ENDED, *(cycle.id for cycle in kept), cycles_max))
        # A step gives one page back, and `execute` makes one step alone.
        self.db.executescript("PRAGMA incremental_vacuum")
        self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return gone


COLUMNS = ("id, state, base, parent, after, upto, shown_after, shown_upto, seed, begun_ms, "
           "learned_until_ms, digest, notes")


def _cycle(row: tuple[Any, ...]) -> Cycle:
    return Cycle(*row[:-1], json.loads(row[-1]))


def _behaviour(item: str, time_ms: int, action: str, scene: str) -> Behaviour:
    return Behaviour(item, time_ms / 1000, action, json.loads(scene) if scene != "{}" else NO_SCENE)


@lru_cache(100_000)
def is_held_out(user: str, share: float) -> bool:
    """The same users in each cycle: the gate reads their examples, and no cycle learns them."""
    number = int.from_bytes(hashlib.sha256(f"held out\n{user}".encode()).digest()[:4], "big")
    return number < share * 2 ** 32
