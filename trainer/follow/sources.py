"""Where behaviours come from: the facts that a service keeps, or the topic of behaviours."""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from ..errors import InputError
from .store import Fact, Recall

#: Files of facts of a read: a service that ran for long without a follower has many.
FILES_MAX = 240
#: Messages of a read of a topic.
MESSAGES_MAX = 50_000
#: A damaged file that was written to so lately is read again.
COPY_SECONDS = 60.0
TABLES = ("behaviour", "recall_fact")


@dataclass(frozen=True)
class Batch:
    """Rows behind a cursor, and the cursor behind them. `repeats`: rows may have been read
    before by design (merged files), so that doubled ones say nothing. `damaged`: files that
    were left out, since they cannot be read. `late`: behaviours before the time asked for."""

    facts: list[Fact] = field(default_factory=list)
    recalls: list[Recall] = field(default_factory=list)
    cursor: Any = None
    repeats: bool = False
    is_last: bool = True
    damaged: list[str] = field(default_factory=list)
    late: int = 0


class SourceAway(Exception):
    """The source does not answer; later it may."""


class Source(Protocol):
    """`name` keys its cursor. `read` waits for nothing new. Raises SourceAway."""

    name: str

    def read(self, cursor: Any, since_ms: int) -> Batch: ...


class Facts:
    """Parquet files of one or several nodes (docs/operate/analysis.md): a file a minute, which
    never changes and is merged into one of its hour, and that of its day. A merged file is read
    again: it may hold minutes that were not seen."""

    name = "facts"

    def __init__(self, folders: Sequence[Path], actions: Sequence[str] | None) -> None:
        """`actions`: those that prompts show or that are learned; None: all."""
        self.folders, self.actions = folders, actions

    def read(self, cursor: Any, since_ms: int) -> Batch:
        """`cursor`: by table the names of the files that were read and are still there."""
        seen = {table: set((cursor or {}).get(table, [])) for table in TABLES}
        facts: list[Fact] = []
        recalls: list[Recall] = []
        after: dict[str, list[str]] = {}
        repeats, is_last = False, True
        damaged: list[Path] = []
        late = 0
        for table in TABLES:
            there = self._files(table)
            new = sorted(there.keys() - seen[table], key=lambda name: (len(_stamp(name)), name))
            new = sorted(new[-FILES_MAX:] if cursor is None else new[:FILES_MAX])
            is_last = is_last and (cursor is None or len(there.keys() - seen[table]) <= FILES_MAX)
            paths = [there[name] for name in new]
            repeats = repeats or any(_is_merged(name) for name in new)
            if table == "behaviour":
                facts += self._facts(paths, since_ms, damaged)
                # Late behaviours of merged files were counted when their minutes were read.
                late += self._late([there[name] for name in new if not _is_merged(name)], since_ms)
            else:
                recalls += self._recalls(paths, since_ms, damaged)
            done = there.keys() if cursor is None else (seen[table] & there.keys()) | set(new)
            after[table] = sorted(name for name in done if not _may_grow(there[name], damaged))
        return Batch(facts, recalls, after, repeats, is_last, [str(path) for path in damaged],
                     late)

    def _files(self, table: str) -> dict[str, Path]:
        found = {}
        for folder in self.folders:
            if not folder.is_dir():
                continue  # A service makes it with its first facts.
            for path in (folder / table).rglob("*.parquet"):
                if not path.name.startswith("."):
                    found[str(path.relative_to(folder.parent))] = path
        return found

    def _facts(self, paths: list[Path], since_ms: int, damaged: list[Path]) -> list[Fact]:
        rows = _select(paths, f"""
            SELECT user_hash::VARCHAR, item_id, epoch_ms(time), action, request_id, position,
                   scene
            FROM {{files}} WHERE user_hash <> 0 AND epoch_ms(time) >= {since_ms} {self._wanted()}
            ORDER BY time""", damaged)
        return [Fact(user, item, int(at), action or "", request or "", int(place or 0),
                     _scene(scene)) for user, item, at, action, request, place, scene in rows]

    def _late(self, paths: list[Path], since_ms: int) -> int:
        rows = _select(paths, f"SELECT count(*) FROM {{files}} WHERE user_hash <> 0 AND "
                       f"epoch_ms(time) < {since_ms} {self._wanted()}", [])
        return sum(count for (count,) in rows)

    def _wanted(self) -> str:
        return "" if self.actions is None else (
            f"AND action IN ({','.join(_quoted(one) for one in self.actions)})")

    def _recalls(self, paths: list[Path], since_ms: int,
                 damaged: list[Path]) -> list[Recall]:
        rows = _select(paths, f"""
            SELECT user_hash::VARCHAR, request_id, epoch_ms(time), item_ids, scene
            FROM {{files}} WHERE user_hash <> 0 AND code = 'OK' AND request_id <> ''
                AND edge <> 'console' AND epoch_ms(time) >= {since_ms} ORDER BY time""",
                       damaged)
        return [Recall(user, request, int(at), list(items or []), _scene(scene))
                for user, request, at, items, scene in rows]


def _select(paths: list[Path], query: str, damaged: list[Path]) -> list[tuple[Any, ...]]:
    """Rows of files; one that has gone meanwhile is in a merged one, which comes next. Files that
    are none of Parquet are added to `damaged`."""
    import duckdb

    there = [path for path in paths if path.exists()]
    if not there:
        return []
    files = f"read_parquet([{','.join(_quoted(str(path)) for path in there)}], union_by_name=true)"
    try:
        with duckdb.connect(config={"threads": 1, "memory_limit": "1GB"}) as connection:
            return connection.sql(query.format(files=files)).fetchall()
    except duckdb.OutOfMemoryException as error:
        raise SourceAway(f"facts: {str(error).splitlines()[0]}") from error
    except duckdb.Error as error:
        if len(there) > 1:
            return [row for path in there for row in _select([path], query, damaged)]
        try:
            there[0].read_bytes()
        except FileNotFoundError:
            return []
        except OSError as unread:
            raise SourceAway(f"facts: {there[0]}: {unread.strerror}") from error
        damaged.append(there[0])
        return []


def _may_grow(path: Path, damaged: list[Path]) -> bool:
    """True of a file that is not whole yet: somebody may be copying it."""
    return path in damaged and path.exists() and time.time() - path.stat().st_mtime < COPY_SECONDS


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _is_merged(name: str) -> bool:
    """True of a file of an hour or a day."""
    return len(_stamp(name)) <= len("20261126T11")


def _stamp(name: str) -> str:
    return Path(name).name.split(".")[0]


def _scene(scene: object) -> str:
    """As JSON, with the keys in order: equal scenes are equal texts."""
    return json.dumps(dict(scene), sort_keys=True) if scene else "{}"  # type: ignore[call-overload]


class Topic:
    """The topic of behaviours; its offsets lie in the store beside the rows, so that a broker needs
    no consumer group. There are no recalls in it: impressions say what users were shown."""

    name = "topic"

    def __init__(self, brokers: str, topic: str, actions: Sequence[str] | None) -> None:
        try:
            from confluent_kafka import Consumer, KafkaError, TopicPartition
        except ModuleNotFoundError as absent:
            raise InputError("--kafka", "the package confluent-kafka (pip install "
                             "confluent-kafka)", "no such module") from absent
        self.topic, self.actions, self.partition_of = topic, actions, TopicPartition
        self.end_code = KafkaError._PARTITION_EOF
        self.consumer = Consumer({"bootstrap.servers": brokers, "group.id": "tessera-follow",
                                  "enable.auto.commit": False, "auto.offset.reset": "earliest",
                                  "enable.partition.eof": True})

    def read(self, cursor: Any, since_ms: int) -> Batch:
        """`cursor`: the next offset of each partition."""
        from confluent_kafka import KafkaException
        try:
            known = self.consumer.list_topics(self.topic, timeout=10).topics[self.topic]
            offsets = {str(number): (cursor or {}).get(str(number)) for number in known.partitions}
            ends = {}
            for number in known.partitions:
                low, high = self.consumer.get_watermark_offsets(
                    self.partition_of(self.topic, number), timeout=10)
                begin = max(low, offsets[str(number)] if offsets[str(number)] is not None else low)
                offsets[str(number)] = min(begin, high)
                ends[number] = high
            self.consumer.assign([self.partition_of(self.topic, number, offsets[str(number)])
                                  for number in known.partitions])
            facts, late = self._until(offsets, ends, since_ms)
        except KafkaException as error:
            raise SourceAway(f"topic {self.topic}: {error.args[0].str()}") from error
        left = any(offsets[str(number)] < end for number, end in ends.items())
        return Batch(facts, [], offsets, False, not left, late=late)

    def _until(self, offsets: dict[str, int], ends: dict[int, int],
               since_ms: int) -> tuple[list[Fact], int]:
        from tessera.behaviour.events.v1 import behaviour_event_pb2
        facts: list[Fact] = []
        read = late = 0
        while read < MESSAGES_MAX:
            left = sum(max(0, end - offsets[str(number)]) for number, end in ends.items())
            if left == 0:
                break
            # A call waits until it has so many.
            messages = self.consumer.consume(min(1000, left, MESSAGES_MAX - read), timeout=5)
            if not messages:
                break
            for message in messages:
                error = message.error()
                if error is not None and error.code() == self.end_code:
                    # The last offsets may be those of a transaction's end, which is no message.
                    offsets[str(message.partition())] = message.offset()
                if error is not None:
                    continue
                read += 1
                offsets[str(message.partition())] = message.offset() + 1
                event = behaviour_event_pb2.BehaviourEvent()
                try:
                    event.ParseFromString(message.value() or b"")
                except Exception:  # whatever protobuf raises: the service has them in its grave
                    continue
                one = event.behaviour
                if not one.user_id or not one.item_id or (
                        self.actions is not None and one.action not in self.actions):
                    continue
                if one.time_ms < since_ms:
                    late += 1
                else:
                    facts.append(Fact(one.user_id, one.item_id, one.time_ms, one.action,
                                      one.request_id, one.position, _scene(dict(one.scene))))
        return facts, late
