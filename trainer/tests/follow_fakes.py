"""A service, a trainer, a stream and a clock for rounds without any of them, with kills."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np

from trainer.follow.cycle import Follower
from trainer.follow.gate import Losses
from trainer.follow.gateway import Away, Clicks, Held, LiveItem, Refused, Served, digest_of
from trainer.follow.guards import Limits
from trainer.follow.samples import Sampling
from trainer.follow.settings import Settings
from trainer.follow.sources import Batch, SourceAway
from trainer.follow.store import Fact, Recall, Store

ITEMS = [str(number) for number in range(40)]
BEGIN_MS = 1_800_000_000_000


class Killed(BaseException):
    """As kill -9: nothing in memory is left."""


class Chaos:
    """Kills and outages by seed, before and behind every effect."""

    def __init__(self, seed: int, kill: float = 0.0, away: float = 0.0) -> None:
        self.rng = np.random.default_rng(seed)
        self.kill, self.away, self.kills, self.aways = kill, away, 0, 0

    def at(self, away: type[Exception] | None = None) -> None:
        drawn = self.rng.random()
        if drawn < self.kill:
            self.kills += 1
            raise Killed
        if away is not None and drawn < self.kill + self.away:
            self.aways += 1
            raise away("nobody answers")

    def around(self, target: object, names: list[str], away: type[Exception] | None = None):
        for name in names:
            call = getattr(target, name)

            def wrapped(*args, call=call, **words):
                self.at(away)
                found = call(*args, **words)
                self.at(away)
                return found

            setattr(target, name, wrapped)
        return target


class Clock:
    def __init__(self) -> None:
        self.now = BEGIN_MS / 1000

    def __call__(self) -> float:
        return self.now

    def pause(self, seconds: float) -> None:
        self.now += seconds


class Stream:
    """Clicks with their recalls, some late, some twice, as `world` time goes on."""

    name = "stream"

    def __init__(self, clock: Clock, seed: int, users: int = 60) -> None:
        self.clock, self.rng, self.users = clock, np.random.default_rng(seed), users
        self.log: list[tuple[Fact, Recall]] = []
        self.held: list[tuple[Fact, Recall]] = []

    def grow(self, count: int) -> None:
        for _ in range(count):
            user, number = f"u{self.rng.integers(self.users)}", len(self.log) + len(self.held)
            shown = [str(item) for item in self.rng.choice(40, 5, replace=False)]
            now_ms = int(self.clock() * 1000) + number % 1000
            request = f"r{number}"
            one = (Fact(user, shown[0], now_ms, "click", request, 1), Recall(user, request,
                                                                             now_ms, shown))
            self.held.append(one) if self.rng.random() < 0.1 else self.log.append(one)
            if self.rng.random() < 0.1:
                self.log.append(self.log[int(self.rng.integers(len(self.log)))])
        self.log += self.held[:-5]
        del self.held[:-5]

    def read(self, cursor, since_ms: int) -> Batch:
        begin = cursor or 0
        end = min(len(self.log), begin + 50)
        rows = self.log[begin:end]
        return Batch([fact for fact, _ in rows], [recall for _, recall in rows], end, False,
                     end == len(self.log))


class FakeService:
    """Versions of one name with leases, and canaries that some break."""

    def __init__(self, clock: Clock, seed: int) -> None:
        self.clock, self.rng = clock, np.random.default_rng(seed)
        self.list: list[Served] = []
        self.active: list[str] = []
        self.lease = ("", 0.0)
        self.pushers: list[tuple[float, str]] = []
        self.served: set[str] = set()
        self.conflicts = 0

    def face(self, holder: str) -> "Face":
        return Face(self, holder)

    def set(self, digest: str, state: str, reason: str = "") -> None:
        self.list = [replace(one, state=state, reason=reason) if one.digest == digest else one
                     for one in self.list]


class Face:
    """The service as one holder reaches it."""

    def __init__(self, service: FakeService, holder: str) -> None:
        self.service, self.holder = service, holder

    def _lease(self) -> None:
        holder, until = self.service.lease
        if holder not in ("", self.holder) and until > self.service.clock():
            self.service.conflicts += 1
            raise Held(f"{holder} has it")

    def items(self):
        return {item: LiveItem((int(item),)) for item in ITEMS[:-1]}

    def base_model(self) -> str:
        return "b" * 32

    def versions(self):
        return list(self.service.list)

    def push(self, folder, base, lease_seconds, learned_until_ms, remark) -> str:
        self._lease()
        until = self.service.clock() + lease_seconds
        self.service.lease = (self.holder, until)
        self.service.pushers.append((self.service.clock(), self.holder))
        digest = digest_of(folder)
        self.service.list = [replace(one, lease_until_ms=int(until * 1000))
                             if one.digest == digest else one for one in self.service.list]
        if all(one.digest != digest for one in self.service.list):
            self.service.list.insert(0, Served(digest, "validated", self.holder, int(until * 1000)))
        return digest

    def activate(self, digest, share, force) -> None:
        self._lease()
        service = self.service
        known = next(one for one in service.list if one.digest == digest)
        if known.state == "rejected":
            raise Refused("ADAPTER_STATE", "it is rejected")
        service.served.add(digest)
        if share < 1:
            broke = service.rng.random() < 0.15
            service.set(digest, "retired" if broke else "canary", "it broke a rule" * broke)
            return
        for one in service.active[-1:]:
            service.set(one, "retired")
        service.active.append(digest)
        service.set(digest, "active")

    def roll_back(self, digest) -> None:
        self._lease()
        service = self.service
        if service.active[-1:] == [digest]:
            service.active.pop()
            for one in service.active[-1:]:
                service.set(one, "active")
        service.set(digest, "retired", "rolled back")

    def clicks(self, digest) -> Clicks:
        drawn = self.service.rng.random()
        return Clicks((10, 100), (60, 100) if drawn < 0.1 else (10, 100))


class FakeLearner:
    """Remembers what each cycle learned, and which versions its gate let through."""

    def __init__(self, store: Store, learned: dict[int, set], passed: set[str], seed: int) -> None:
        self.store, self.learned, self.passed, self.seed = store, learned, passed, seed

    def use_items(self, live) -> None:
        assert live

    def train(self, parent, samples, seed, out, labelled=()):
        cycle = self.store.unfinished()
        new, _ = self.store.chosen(cycle)
        keys = {self.store.db.execute("SELECT user, item, time_ms FROM behaviours WHERE id = ?",
                                      (one,)).fetchone() for one in new}
        assert len(keys) == len(new)
        assert self.learned.setdefault(cycle.id, keys) == keys, "a killed cycle changed"
        assert any(sample.taken for sample in samples) and any(not one.taken for one in samples)
        out.mkdir(parents=True, exist_ok=True)
        (out / "adapter_config.json").write_text(json.dumps({"seed": seed, "of": str(out)}))
        (out / "adapter_model.safetensors").write_bytes(b"")
        assert labelled and {"click"} == set(labelled[0].labels)
        assert [one.example.answer.time for one in labelled] == sorted(
            one.example.answer.time for one in labelled)
        return {"largest_norm": 1.0}

    def weigh(self, parent, candidate, samples) -> Losses:
        users = [sample.example.user for sample in samples]
        noise = np.random.default_rng([self.seed, int(candidate.name)])
        base = noise.normal(3, 1, len(users))
        is_bad = noise.random() < 0.2
        if not is_bad:
            self.passed.add(digest_of(candidate))
        return Losses(users, base, base - 0.1, base + (0.5 if is_bad else -0.2))


SETTINGS = Settings("", ("click",), heads={"click": ["click"]},
                    limits=Limits(held_out=0.2, examples_max=60),
                    sampling=Sampling(gate_least=5), examples_min=10, canary_seconds=20,
                    window_hours=1)
STORE_CALLS = ["add", "begin", "advance", "set_key", "prune"]
SERVICE_CALLS = ["items", "base_model", "versions", "push", "activate", "roll_back", "clicks"]


class Trial:
    """A follower that is started again after each kill."""

    def __init__(self, folder: Path, service: FakeService, stream: Stream, chaos: Chaos) -> None:
        self.folder, self.service, self.stream, self.chaos = folder, service, stream, chaos
        self.learned: dict[int, set] = {}
        self.passed: set[str] = set()
        self.ends: list[str] = []
        self.start()

    def start(self) -> None:
        self.store = Store(self.folder, 10)
        holder = self.store.holder("host")
        learner = FakeLearner(self.store, self.learned, self.passed, 3)
        self.chaos.around(self.store, STORE_CALLS)
        self.chaos.around(learner, ["train", "weigh"])
        face = self.chaos.around(self.service.face(holder), SERVICE_CALLS, Away)
        source = self.chaos.around(Reader(self.stream), ["read"], SourceAway)
        self.follower = Follower(self.store, source, face, learner,
                                 replace(SETTINGS, holder=holder), self.service.clock,
                                 self.service.clock.pause)

    def round(self) -> None:
        try:
            self.ends.append(self.follower.once().verdict)
        except Killed:
            self.store.close()
            self.start()
        except (Away, SourceAway):
            pass

    def check(self) -> None:
        """No example twice in a lineage."""
        for digest in self.service.served:
            seen: set = set()
            for cycle in self.store.lineage(digest):
                assert seen.isdisjoint(self.learned[cycle.id])
                seen |= self.learned[cycle.id]


class Reader:
    name = "stream"

    def __init__(self, stream: Stream) -> None:
        self.stream = stream

    def read(self, cursor, since_ms):
        return self.stream.read(cursor, since_ms)
