"""Against a service that runs: TESSERA_ADDRESS, and TESSERA_ADAPTER, a folder as PEFT saves it."""

import os
import time

import pytest
from tessera.behaviour.v1 import behaviour_pb2
from tessera.catalogue.v1 import catalogue_pb2
from tessera.recall.v1 import recall_pb2
from tessera_client import Client, TesseraError

ADDRESS = os.getenv("TESSERA_ADDRESS", "")
pytestmark = pytest.mark.skipif(ADDRESS == "", reason="TESSERA_ADDRESS names no service")


@pytest.fixture(scope="module")
def tessera():
    with Client(ADDRESS, deadline_ms=30_000) as client:
        yield client


def ids(answer):
    return [item.item_id for item in answer.items]


def test_recalls_a_user_and_the_history_of_the_user_alike(tessera):
    assert tessera.serving()
    behaviours = tessera.history("1").behaviours
    by_user = tessera.recall(user_id="1", result_count=5)
    by_history = tessera.recall(history=[one.item_id for one in behaviours], result_count=5)
    assert len(by_user.items) == 5
    assert ids(by_user) == ids(by_history)


def test_recalls_many_users_in_one_call(tessera):
    asked = [recall_pb2.RecallRequest(user_id=user, result_count=3) for user in ("1", "2", "1")]
    wrong = recall_pb2.RecallRequest(user_id="1", result_count=10**6)
    first, failed, second, third = tessera.recall_batch([asked[0], wrong, *asked[1:]])
    assert ids(first) == ids(third) == ids(tessera.recall(user_id="1", result_count=3))
    assert ids(second) == ids(tessera.recall(user_id="2", result_count=3))
    assert isinstance(failed, TesseraError)
    assert (failed.code, failed.field) == ("REQUEST_INVALID", "result_count")


def test_scores_items_as_the_recall_did(tessera):
    answer = tessera.recall(user_id="2", result_count=5)
    scored = tessera.score(ids(answer), user_id="2")
    for item, score in zip(answer.items, scored.items, strict=True):
        assert score.score == pytest.approx(item.score, abs=1e-4)


def test_texts_become_vectors_and_scores(tessera):
    vectors = tessera.embed(["hand cream", "lip balm"])
    assert len(vectors) == 2
    assert vectors[1] == tessera.embed(["lip balm"])[0]
    assert len(tessera.embed(["lip balm"], dimensions=3)[0]) == 3
    judged = tessera.relevance("cream", ["hand cream", "lip balm"])
    assert all(document.HasField("score") for document in judged.documents)
    adapted = tessera.relevance("cream", ["hand cream", "lip balm"], adapter="fits")
    assert adapted.versions.adapter and not judged.versions.adapter
    assert adapted.documents[0].score != judged.documents[0].score
    with pytest.raises(TesseraError) as refused:
        tessera.relevance("cream", ["hand cream"], adapter="other")
    assert (refused.value.code, refused.value.field) == ("ADAPTER_NOT_FOUND", "adapter")


def test_writes_reads_and_erases_a_user(tessera):
    def click(event_id):
        now = time.time_ns() // 10**6
        return behaviour_pb2.Behaviour(
            user_id="of-python", event_id=event_id, item_id="75", action="click", time_ms=now
        )

    assert list(tessera.append([click("a")])) == [behaviour_pb2.APPEND_OUTCOME_ADDED]
    assert list(tessera.append([click("a")])) == [behaviour_pb2.APPEND_OUTCOME_DUPLICATE]
    assert [one.item_id for one in tessera.history("of-python").behaviours] == ["75"]
    assert tessera.erase("of-python")
    assert not tessera.erase("of-python")


def test_pauses_an_item_and_brings_it_back(tessera):
    first = ids(tessera.recall(user_id="3", result_count=1))[0]
    paused = tessera.apply([catalogue_pb2.Change(pause_item_id=first)]).sequence
    answer = tessera.recall(user_id="3", result_count=5)
    assert answer.versions.catalogue_sequence >= paused
    assert first not in ids(answer)
    assert tessera.apply([catalogue_pb2.Change(resume_item_id=first)]).sequence > paused


def test_patches_a_whole_campaign(tessera):
    mine = recall_pb2.Predicate(contains=recall_pb2.TextClause(attribute="of", values=["python"]))
    add = [catalogue_pb2.PatchTexts(attribute="of", texts=["python"])]
    items = ids(tessera.recall(user_id="3", result_count=2))
    marks = [catalogue_pb2.PatchAttributes(item_id=item, add=add) for item in items]
    tessera.apply([catalogue_pb2.Change(patch_attributes=mark) for mark in marks])
    paid = catalogue_pb2.PatchAttributes(
        matching=mine, delta=[catalogue_pb2.PatchNumber(attribute="spent", delta=0.5)]
    )
    answer = tessera.apply(
        [
            catalogue_pb2.Change(patch_attributes=paid),
            catalogue_pb2.Change(pause_matching=mine),
        ]
    )
    assert list(answer.matched) == [2, 2]
    assert not set(items) & set(ids(tessera.recall(user_id="3", result_count=5)))
    back = tessera.apply([catalogue_pb2.Change(resume_matching=mine)])
    assert list(back.matched) == [2]
    assert back.sequence == answer.sequence + 2


def test_names_the_field_at_fault_as_the_proto_does(tessera):
    with pytest.raises(TesseraError) as raised:
        tessera.recall(user_id="1", result_count=10**6)
    error = raised.value
    assert (error.code, error.field, error.retryable) == ("REQUEST_INVALID", "result_count", False)
    assert "expected 1.." in error.message


@pytest.mark.skipif("TESSERA_ADAPTER" not in os.environ, reason="TESSERA_ADAPTER names no folder")
def test_pushes_tries_activates_and_rolls_back_an_adapter(tessera):
    sent = []
    adapters = tessera.adapters
    version = adapters.push(os.environ["TESSERA_ADAPTER"], "python", on_bytes=sent.append)
    assert sum(sent) == version.file_bytes
    name, digest = version.name, version.digest
    assert adapters.wait(name, digest, "validated").digest == digest
    adapters.canary(name, digest, 0.5, force=True)
    assert adapters.wait(name, digest, "canary").share == pytest.approx(0.5)
    adapters.activate(name, digest, force=True)
    adapters.wait(name, digest, "active")
    answer = tessera.recall(user_id="1", adapter=name)
    assert answer.versions.adapter == digest
    assert adapters.roll_back(name).replaced.digest == digest
    adapters.wait(name, digest, "retired")
    with pytest.raises(TesseraError, match="expected validated, got retired"):
        adapters.wait(name, digest, "validated", timeout_seconds=0)


@pytest.mark.skipif("TESSERA_ADAPTER" not in os.environ, reason="TESSERA_ADAPTER names no folder")
def test_holds_a_name_against_other_holders_and_no_person(tessera):
    adapters, folder, name = tessera.adapters, os.environ["TESSERA_ADAPTER"], "held"
    learned = int(time.time() * 1000) - 1000
    lease = {"holder": "follow-1", "lease_seconds": 60, "learned_until_ms": learned}
    version = adapters.push(folder, name, **lease)
    assert (version.holder, version.learned_until_ms) == ("follow-1", learned)
    assert version.lease_until_ms > time.time() * 1000
    others = {
        "push": lambda: adapters.push(folder, name, holder="follow-2", lease_seconds=60),
        "activate": lambda: adapters.activate(name, version.digest, force=True, holder="follow-2"),
        "roll back": lambda: adapters.roll_back(name, holder="follow-2"),
    }
    for what, act in others.items():
        with pytest.raises(TesseraError) as raised:
            act()
        assert (raised.value.code, raised.value.field) == ("PUSH_CONFLICT", "holder"), what
    adapters.activate(name, version.digest, force=True, holder="follow-1")
    with pytest.raises(TesseraError, match="ADAPTER_NOT_FOUND|has no version"):
        adapters.roll_back(name, digest="0" * 64)
    assert adapters.roll_back(name, digest=version.digest).replaced.digest == version.digest
