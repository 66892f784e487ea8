"""The store of a trainer that follows over many rounds: what it forgets, and what never."""

from pathlib import Path

from trainer.follow.cycle import CYCLES_KEPT
from trainer.follow.store import Cycle, Fact, Store

FIELDS = {"base": "b", "after": 0, "upto": 0, "shown_after": 0, "shown_upto": 0, "seed": 1,
          "begun_ms": 0, "learned_until_ms": 0}


def ended(store: Store, state: str, digest: str, parent: str) -> Cycle:
    cycle = store.begin(FIELDS | {"parent": parent}, {}, [], [])
    return store.advance(cycle, state, digest)


def test_the_cycles_of_what_serves_are_kept_behind_any_number_of_refused_ones(tmp_path: Path):
    store = Store(tmp_path)
    ended(store, "active", "first", "")
    served = ended(store, "active", "second", "first")
    for number in range(CYCLES_KEPT + 5):
        ended(store, "refused", f"r{number}", "second")
    store.prune(0, 1000, CYCLES_KEPT, store.lineage("second"))
    assert store.of_version("second") == served
    assert [cycle.digest for cycle in store.lineage("second")] == ["second", "first"]
    assert store.of_version("r0") is None and store.of_version("r5") is not None
    store.close()


def test_a_version_with_the_digest_of_its_parent_has_a_lineage_that_ends(tmp_path: Path):
    store = Store(tmp_path)
    ended(store, "active", "same", "")
    ended(store, "active", "same", "same")
    assert [cycle.id for cycle in store.lineage("same")] == [2, 1]
    store.close()


def test_room_of_behaviours_that_went_is_given_back_and_overwritten(tmp_path: Path):
    store = Store(tmp_path, context=0)
    store.add([Fact(f"u{number}", "1", number, "click", scene="x" * 900)
               for number in range(5000)], [], "s", 1)
    file = tmp_path / "follow.sqlite"
    store.prune(0, 10_000, 1)
    before = file.stat().st_size
    store.prune(10_000, 10_000, 1)
    assert file.stat().st_size < before / 10
    assert store.db.execute("PRAGMA freelist_count").fetchone()[0] == 0
    assert store.db.execute("PRAGMA secure_delete").fetchone()[0] == 1
    assert b"x" * 100 not in file.read_bytes()
    store.close()
