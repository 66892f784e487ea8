"""Facts and topics as a follower reads them, and versions that its learner trains."""

import json
import os
import sys
import types
from pathlib import Path

import duckdb
import numpy as np
import pytest
import torch

from trainer.errors import InputError
from trainer.follow.choice import Sample
from trainer.follow.gate import judge
from trainer.follow.gateway import LiveItem, digest_of
from trainer.follow.labels import Labelled
from trainer.follow.learner import Learner, Plan
from trainer.follow.sources import Facts, Topic
from trainer.follow.store import Example, Store
from trainer.heads import read_ranking
from trainer.history import Behaviour
from trainer.prompts import read_prompt_folder

DEMO = Path(__file__).resolve().parents[2] / "models" / "demo"


def write(folder: Path, table: str, stamp: str, select: str) -> Path:
    (folder / table).mkdir(parents=True, exist_ok=True)
    path = folder / table / f"{stamp}.node.parquet"
    duckdb.sql(f"COPY ({select}) TO '{path}' (FORMAT parquet)")
    return path


def click(user: int, item: str, second: int) -> str:
    return (f"SELECT {user}::UBIGINT AS user_hash, '{item}' AS item_id, "
            f"make_timestamp_ms({1000 * second}) AS time, 'click' AS action, 'r{second}' AS "
            "request_id, 2::UINTEGER AS position, MAP {'daypart': 'night'} AS scene")


def test_files_of_facts_are_read_once_and_a_merged_one_again_without_counting_twice(tmp_path):
    store, source = Store(tmp_path / "state"), Facts([tmp_path / "facts"], ["click"])

    def read() -> int:
        batch = source.read(store.cursor("facts"), 0)
        return store.add(batch.facts, batch.recalls, "facts", batch.cursor)

    assert read() == 0
    first = write(tmp_path / "facts", "behaviour", "20261127T1901", click(1, "7", 100))
    write(tmp_path / "facts", "recall_fact", "20261127T1901",
          "SELECT 1::UBIGINT AS user_hash, 'r100' AS request_id, make_timestamp_ms(99000) AS "
          "time, ['3', '7'] AS item_ids, MAP {'daypart': 'night'} AS scene, 'OK' AS "
          "code, 'grpc' AS edge")
    assert read() == 1 and read() == 0
    second = write(tmp_path / "facts", "behaviour", "20261127T1902", click(2, "8", 160))
    # A minute that was never seen is in the hour's file alone; user 0 is of no user.
    write(tmp_path / "facts", "behaviour", "20261127T19", " UNION ALL ".join(
        click(*one) for one in ((1, "7", 100), (2, "8", 160), (3, "9", 170), (0, "9", 180))))
    first.unlink()
    second.unlink()
    assert read() == 2 and read() == 0
    example, *_ = store.examples([1])
    assert example.answer == Behaviour("7", 100.0, "click", {"daypart": "night"})
    assert store.items_shown([example]) == {("1", "r100"): ["3", "7"]}
    store.close()


def test_behaviours_older_than_the_window_are_left_out_and_counted_once(tmp_path):
    source = Facts([tmp_path / "facts"], ["click"])
    rows = " UNION ALL ".join(click(*one) for one in ((1, "7", 100), (2, "8", 160), (3, "9", 170)))
    minute = write(tmp_path / "facts", "behaviour", "20261127T1901", rows)
    first = source.read({}, 165_000)
    assert ([fact.item for fact in first.facts], first.late) == (["9"], 2)
    write(tmp_path / "facts", "behaviour", "20261127T19", rows)
    minute.unlink()
    assert source.read(first.cursor, 165_000).late == 0


def test_a_damaged_file_is_named_and_left_out_and_one_that_is_being_copied_is_read_again(tmp_path):
    source = Facts([tmp_path / "facts"], None)
    whole = write(tmp_path / "facts", "behaviour", "20261127T1901", click(1, "7", 100))
    content = whole.read_bytes()
    flipped = content[:4] + bytes(len(content) // 2) + content[4 + len(content) // 2:]
    for minute, damage in enumerate((b"", content[:len(content) // 2], flipped), 2):
        path = whole.with_name(f"20261127T190{minute}.node.parquet")
        path.write_bytes(damage)
        first = source.read({}, 0)
        assert ([fact.item for fact in first.facts], first.damaged) == (["7"], [str(path)])
        os.utime(path, (0, 0))
        old = source.read(first.cursor, 0)
        assert (old.facts, old.damaged) == ([], [str(path)])
        assert source.read(old.cursor, 0).damaged == []
        path.write_bytes(content)
        assert len(source.read(first.cursor, 0).facts) == 1
        path.unlink()


class FakeMessage:
    def __init__(self, offset: int, value: bytes) -> None:
        self.at, self.bytes = offset, value

    def error(self):
        return None

    def partition(self) -> int:
        return 0

    def offset(self) -> int:
        return self.at

    def value(self) -> bytes:
        return self.bytes


class FakeConsumer:
    """One partition whose first messages have gone."""

    log: list[bytes] = []
    low = 0

    def __init__(self, _config) -> None:
        self.place = 0

    def list_topics(self, topic, timeout):
        return types.SimpleNamespace(topics={topic: types.SimpleNamespace(partitions={0: None})})

    def get_watermark_offsets(self, _partition, timeout):
        return self.low, len(self.log)

    def assign(self, partitions) -> None:
        self.place = partitions[0][2]

    def consume(self, count, timeout):
        found = [FakeMessage(offset, self.log[offset])
                 for offset in range(self.place, min(len(self.log), self.place + count))]
        self.place += len(found)
        return found


def test_a_topic_is_read_from_the_offsets_in_the_store(tmp_path, monkeypatch):
    from tessera.behaviour.events.v1 import behaviour_event_pb2
    from tessera.behaviour.v1 import behaviour_pb2

    def event(number: int) -> bytes:
        return behaviour_event_pb2.BehaviourEvent(behaviour=behaviour_pb2.Behaviour(
            user_id="u", item_id=str(number), action="click", time_ms=number, request_id="r",
            position=1)).SerializeToString()

    fake = types.SimpleNamespace(Consumer=FakeConsumer, KafkaException=RuntimeError,
                                 KafkaError=types.SimpleNamespace(_PARTITION_EOF=-191),
                                 TopicPartition=lambda *words: words)
    monkeypatch.setitem(sys.modules, "confluent_kafka", fake)
    monkeypatch.setattr(FakeConsumer, "log", [event(number) for number in range(1, 5)] + [b"\xff"])
    monkeypatch.setattr(FakeConsumer, "low", 1)
    source = Topic("127.0.0.1:9", "behaviours", ["click"])
    batch = source.read(None, 3)
    assert [fact.item for fact in batch.facts] == ["3", "4"]
    assert batch.cursor == {"0": 5} and batch.is_last and batch.late == 1
    monkeypatch.setattr(FakeConsumer, "log", [*FakeConsumer.log, event(9)])
    assert [fact.item for fact in source.read(batch.cursor, 0).facts] == ["9"]


def test_a_topic_without_its_package_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "confluent_kafka", None)
    with pytest.raises(InputError, match="confluent-kafka"):
        Topic("127.0.0.1:9", "behaviours", None)


def samples_of(count: int, seed: int, liked: str, other: str) -> list[Labelled]:
    rng = np.random.default_rng(seed)
    found = []
    for number in range(count):
        taken = bool(rng.random() < 0.5)
        history = [Behaviour(str(item), 1.0, "click") for item in rng.integers(1, 700, 3)]
        answer = Behaviour(liked if taken else other, 2.0, "click", {"daypart": "night"})
        found.append(Labelled(Example(f"u{number}", answer, history, "r"), taken, 1, 1.0,
                              {"click": float(taken)}))
    return found


def test_a_version_learns_goes_on_from_the_one_before_and_carries_heads(tmp_path):
    torch.set_num_threads(1)
    learner = Learner(DEMO, Plan(rank=4, epochs=1, batch_size=32))
    items = read_prompt_folder(DEMO).items
    rows = (DEMO / "catalogue.jsonl").read_text().splitlines()
    assert len(items) == len(rows)
    live = {row["item_id"]: LiveItem(tuple(row["sid"])) for row in map(json.loads, rows)}
    learner.use_items(live | {"unwritable": LiveItem((200, 200, 200))})
    gone = Sample(Example("u", Behaviour("gone", 2.0, "click"), [], "r"))
    assert learner.train(None, [gone], 1, tmp_path / "none") is None
    assert learner.train(None, [], 1, tmp_path / "none") is None
    first = samples_of(160, 1, "300", "8")
    figures = learner.train(None, [*first, gone], 1, tmp_path / "a", first)
    assert figures["rows"] == 160 and 0 < figures["largest_norm"] < 100
    assert read_ranking(tmp_path / "a").heads[0].name == "click"
    learner.train(None, [*first, gone], 1, tmp_path / "again", first)
    assert digest_of(tmp_path / "a") == digest_of(tmp_path / "again")
    learner.train(tmp_path / "a", samples_of(160, 2, "300", "8"), 2, tmp_path / "b")
    losses = learner.weigh(tmp_path / "a", tmp_path / "b", samples_of(80, 3, "300", "8"))
    assert losses.candidate.mean() < losses.parent.mean() < losses.base.mean()
    assert judge(losses, 10, 1.0, 100.0).reason == ""
