"""A round of a trainer that follows: a small machine whose every step is kept before the next, and
may be repeated: a process that is killed anywhere goes on with the same examples and seed."""

import shutil
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

from .choice import Sample, impressions
from .gate import Losses, judge
from .gateway import NORM_MAX, Clicks, Held, LiveItem, Refused, Served, digest_of
from .guards import choose, held_out, taken
from .labels import Labelled, shown_to
from .samples import slice_of, to_learn
from .settings import Settings
from .sources import Source
from .store import ENDED, Cycle, Fact, Recall, Store

#: Reads of a source before a cycle begins: one that fills faster than it is read must not stop it.
READS_MAX = 100
#: Rollbacks that lead to the base model.
ROLLBACKS_MAX = 64
#: Folders of versions that are kept: those a person may go back to.
FOLDERS_KEPT = 6
CYCLES_KEPT = 1000
POLL_SECONDS = 3.0


class Service(Protocol):
    """`Gateway`, or its stand-in in a test."""

    def items(self) -> dict[str, LiveItem]: ...
    def base_model(self) -> str: ...
    def versions(self) -> list[Served]: ...
    def push(self, folder: Path, base: str, lease_seconds: int, learned_until_ms: int,
             remark: str) -> str: ...
    def activate(self, digest: str, share: float, force: bool) -> None: ...
    def roll_back(self, digest: str) -> None: ...
    def clicks(self, digest: str) -> Clicks: ...


class Learns(Protocol):
    """`Learner`, or its stand-in in a test."""

    def use_items(self, live: dict[str, LiveItem]) -> None: ...
    def train(self, parent: Path | None, samples: Sequence[Sample], seed: int,
              out: Path, labelled: Sequence[Labelled] = ()) -> dict[str, Any] | None: ...
    def weigh(self, parent: Path | None, candidate: Path, samples: Sequence[Sample]) -> Losses: ...


@dataclass
class Outcome:
    """End of a round. `verdict`: active, dropped, refused, or of no round: nothing new, waits,
    stands by."""

    verdict: str
    reason: str = ""
    cycle: Cycle | None = None
    left: Counter[str] = field(default_factory=Counter)
    alarms: dict[str, str] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)


class Follower:
    """`once` is a round. Raises gateway.Away and sources.SourceAway where it must be made later;
    the steps that were done are kept."""

    def __init__(self, store: Store, source: Source, service: Service, learner: Learns,
                 settings: Settings, clock: Callable[[], float] = time.time,
                 pause: Callable[[float], None] = time.sleep) -> None:
        self.store, self.source, self.service, self.learner = store, source, service, learner
        self.settings, self.clock, self.pause = settings, clock, pause
        self.left: Counter[str] = Counter()
        self.alarms: dict[str, str] = {}
        self.seconds: dict[str, float] = {}
        self.live: dict[str, LiveItem] | None = None
        #: Of the served version, as of the last round: SQLite answers its own thread alone.
        self.learned_until_ms = (store.key("served") or {}).get("learned_until_ms", 0)

    def once(self) -> Outcome:
        self.seconds, alarms, self.live = {}, {}, None
        self._timed("read", self.read)
        try:
            cycle = self.store.unfinished()
            if cycle is None:
                begun = self._timed("choose", self._begin)
                if isinstance(begun, Outcome):
                    return begun
                cycle, alarms = begun
            while cycle.state not in ENDED:
                cycle = self._step(cycle)
        except Held as held:
            return self._outcome("stands by", str(held))
        self._forget()
        outcome = self._outcome(cycle.state, cycle.notes.get("reason", ""), cycle)
        outcome.alarms = alarms | outcome.alarms
        return outcome

    def read(self) -> None:
        """All that the source has, in batches that are each kept with their cursor."""
        for _ in range(READS_MAX):
            now_ms = int(self.clock() * 1000)
            oldest_ms = now_ms - int(self.settings.window_hours * 3_600_000)
            batch = self.source.read(self.store.cursor(self.source.name), oldest_ms)
            facts, left = taken(batch.facts, now_ms, oldest_ms)
            recalls = self._recalls(facts, batch.recalls)
            if self.settings.kept is not None:
                facts = [fact for fact in facts if fact.action in self.settings.kept]
            added = self.store.add(facts, recalls, self.source.name, batch.cursor)
            if not batch.repeats and len(facts) > added:
                left["doubled"] += len(facts) - added
            left["late"] += batch.late
            self.left += +left
            self.alarms |= {f"file {one}": f"file {one} is damaged and is left out"
                            for one in batch.damaged}
            if 2 * left["future"] > len(batch.facts):
                self.alarms["clock"] = (f"{left['future']} of {len(batch.facts)} behaviours are "
                                        "ahead of the clock of this machine, which may be late")
            if batch.is_last:
                return

    def _recalls(self, facts: Sequence[Fact], recalls: list[Recall]) -> list[Recall]:
        """Items that users were shown: their impressions, where a service ever had one, since an
        item that was recalled and not looked at was not refused; else all of the recall."""
        found = impressions(facts, self.settings.impression)
        if found and not self.store.key("has impressions"):
            self.store.set_key("has impressions", True)
        return found if self.store.key("has impressions") else recalls

    def backlog(self) -> int:
        """Examples that the served version has not learned."""
        newest = self.store.key("served") or {}
        self.learned_until_ms = newest.get("learned_until_ms", 0)
        return self.store.count(newest.get("upto", 0), self.settings.answers)

    def _begin(self) -> tuple[Cycle, dict[str, str]] | Outcome:
        versions = self.service.versions()
        self._give_way(versions)
        base = self.service.base_model()
        parent, reason = self._parent(versions, base)
        if reason:
            return self._outcome("stands by", reason)
        if self.store.key(f"base {self.settings.model}") not in (None, base):
            return self._outcome("stands by", f"the service has other weights than "
                                 f"{self.settings.model} had: start with --model of its folder")
        self.store.set_key(f"base {self.settings.model}", base)
        before = self.store.of_version(parent)
        after, shown_after = ((before.upto, before.shown_upto) if before
                              else self.settings.base_learned)
        upto, shown_upto = self.store.newest()
        live = self._live_items()
        answers, limits = self.settings.answers, self.settings.limits
        number = self.store.key("cycles") or 0
        seed = self.settings.seed * 1_000_003 + number
        new, older = (self.store.rows(*span, answers) for span in ((after, upto), (0, after)))
        choice = choose(new, older, live, limits, seed)
        self.left += choice.left
        if len(choice.new) < self.settings.examples_min:
            outcome = self._outcome("nothing new", f"{len(choice.new)} new examples, a cycle takes "
                                    f"{self.settings.examples_min} or more")
            outcome.alarms |= choice.alarms
            return outcome
        weighed = len(held_out([*older, *new], live, limits, self.settings.sampling.gate_least))
        if weighed < self.settings.sampling.gate_least:
            return self._outcome("waits", f"{len(choice.new)} new examples, and {weighed} of "
                                 f"held-out users, {limits.held_out:.0%} of all: "
                                 f"{self.settings.sampling.gate_least} of them open the gate")
        self.store.set_key("cycles", number + 1)
        notes = {"serving": self._serving(versions), "new": len(choice.new),
                 "replayed": len(choice.replayed), "left": dict(self.left), "bots": choice.bots,
                 "shares": choice.shares, "since_ms": choice.since_ms}
        cycle = self.store.begin({
            "base": base, "parent": parent, "after": after, "upto": upto,
            "shown_after": shown_after, "shown_upto": shown_upto,
            "seed": seed, "begun_ms": int(self.clock() * 1000),
            "learned_until_ms": self.store.newest_ms(upto, answers)}, notes, choice.new,
            choice.replayed)
        return cycle, choice.alarms

    def _give_way(self, versions: Sequence[Served]) -> None:
        """Raises Held while another follower has the lease, or a person tries a version. The trial
        of a follower that has gone is ended: nobody else would."""
        now_ms = self.clock() * 1000
        for one in versions:
            if one.holder not in ("", self.settings.holder) and one.lease_until_ms > now_ms:
                left = (one.lease_until_ms - now_ms) / 1000
                raise Held(f"{one.holder} holds the lease for {left:.0f} s")
        for one in versions:
            if one.state != "canary" or one.holder == self.settings.holder:
                continue
            if not one.holder:
                raise Held(f"{one.digest[:12]} of a person is tried on users")
            self.service.roll_back(one.digest)

    def _parent(self, versions: Sequence[Served], base: str) -> tuple[str, str]:
        """The version to go on from, "" for the base model; or why there must be no cycle now."""
        active = next((one for one in versions if one.state == "active"), None)
        if active is None:
            return "", ""
        known = self.store.of_version(active.digest)
        if known and known.base == base and self._folder_of(known).exists():
            return active.digest, ""
        if active.holder:
            self.alarms["lineage"] = (
                f"lineage of {active.digest[:12]}, which {active.holder} pushed and which serves, "
                "is not here: this cycle begins from the base model, with which alone its gate "
                "compares")
            return "", ""
        return "", (f"{active.digest[:12]}, which a person pushed, serves: roll it back, or "
                    "activate one of this trainer's")

    def _step(self, cycle: Cycle) -> Cycle:
        steps = {"chosen": self._train, "trained": self._gate, "gated": self._push,
                 "pushed": self._try, "canary": self._decide}
        return self._timed(cycle.state, lambda: steps[cycle.state](cycle))

    def _train(self, cycle: Cycle) -> Cycle:
        self.learner.use_items(self._live_items())
        samples = to_learn(self.store, cycle, self.settings.answers, self.settings.limits,
                           self.settings.sampling)
        folder = self._folder_of(cycle)
        if not folder.exists():
            labelled = shown_to(self.store, cycle, self.settings.heads, self.settings.limits)
            if self.settings.heads and not labelled:
                return self._end(cycle, "refused", "heads: no recall is known")
            figures = self.learner.train(self._parent_folder(cycle), samples, cycle.seed, folder,
                                         labelled)
            if figures is None:
                return self._end(cycle, "refused", "no example has a prompt that is served")
        else:
            figures = {}  # It was killed behind the last write.
        digest = digest_of(folder)
        if digest == cycle.parent:
            return self._end(cycle, "refused", "no number of it differs from the version before: "
                             "the learning rate may be 0, or all examples say nothing")
        return self.store.advance(cycle, "trained", digest, **figures)

    def _gate(self, cycle: Cycle) -> Cycle:
        live, sampling = self._live_items(), self.settings.sampling
        self.learner.use_items(live)
        samples = slice_of(self.store, cycle, self.settings.answers, self.settings.limits,
                           sampling, live)
        losses = (self.learner.weigh(self._parent_folder(cycle), self._folder_of(cycle), samples)
                  if samples else Losses.none())
        verdict = judge(losses, sampling.gate_least, cycle.notes.get("largest_norm", 0.0), NORM_MAX)
        cycle = self.store.advance(cycle, "trained", gate=verdict.figures)
        if verdict.has_drifted and cycle.parent:
            self._to_base()
            return self._end(cycle, "refused", "drift: the served version is worse than the base "
                             "model on the newest held-out examples, and was rolled back")
        if verdict.reason:
            return self._end(cycle, "refused", f"gate: {verdict.reason}")
        return self.store.advance(cycle, "gated")

    def _push(self, cycle: Cycle) -> Cycle:
        versions = self.service.versions()
        self._give_way(versions)
        known = next((one for one in versions if one.digest == cycle.digest), None)
        if known is None and self._serving(versions) != cycle.notes["serving"]:
            return self._end(cycle, "dropped", "another version serves now")
        try:
            digest = self._send(cycle)
        except Refused as refused:
            return self._end(cycle, "refused", f"push: {refused}")
        return self.store.advance(cycle, "pushed", digest)

    def _try(self, cycle: Cycle) -> Cycle:
        versions = self.service.versions()
        self._give_way(versions)
        ended = self._ended(cycle, versions)
        if ended is not None:
            return ended
        serving = self._serving(versions)
        if serving != cycle.notes["serving"]:
            return self._end(cycle, "dropped", "another version serves now")
        if self._state_of(cycle, versions) != "canary":
            try:
                # Without an active version the golden set compares with the base model, which is
                # what the users have left behind; the gate has judged on users of today.
                if serving == "" or self.settings.share >= 1 or self.settings.canary_seconds == 0:
                    self.service.activate(cycle.digest, 1.0, force=serving == "")
                    return self._served(cycle)
                self.service.activate(cycle.digest, self.settings.share, force=False)
            except Refused as refused:
                return self._end(cycle, "dropped", f"activation: {refused}")
        return self.store.advance(cycle, "canary")

    def _decide(self, cycle: Cycle) -> Cycle:
        until = self.clock() + self.settings.canary_seconds
        while True:
            ended = self._ended(cycle, versions := self.service.versions())
            if ended is not None:
                return ended
            if self._state_of(cycle, versions) != "canary":
                return self._end(cycle, "dropped", "its trial was ended")
            self._renew(cycle, versions)
            clicks = self.service.clicks(cycle.digest)
            is_over = self.clock() >= until
            if is_over or clicks.verdict == "better":
                break
            self.pause(min(POLL_SECONDS, max(0.1, until - self.clock())))
        cycle = self.store.advance(cycle, "canary", clicks=asdict(clicks) | {
            "verdict": clicks.verdict})
        try:
            if clicks.verdict == "worse":
                self.service.roll_back(cycle.digest)
                return self._end(cycle, "dropped", "clicked less than the version before")
            self.service.activate(cycle.digest, 1.0, force=False)
        except Refused as refused:
            return self._end(cycle, "dropped", f"activation: {refused}")
        return self._served(cycle)

    def _renew(self, cycle: Cycle, versions: Sequence[Served]) -> None:
        """A trial may take longer than a lease: without one, the next follower would end it."""
        one = next(one for one in versions if one.digest == cycle.digest)
        if one.lease_until_ms / 1000 < self.clock() + self.settings.lease_seconds / 2:
            self._send(cycle)

    def _send(self, cycle: Cycle) -> str:
        """A version that the service knows is not sent again, its lease is renewed."""
        remark = f"cycle {cycle.id}: {cycle.notes.get('new', 0)} new examples"
        return self.service.push(self._folder_of(cycle), cycle.base, self.settings.lease_seconds,
                                 cycle.learned_until_ms, remark)

    def _ended(self, cycle: Cycle, versions: Sequence[Served]) -> Cycle | None:
        """The end of a cycle whose version has one already."""
        one = next((one for one in versions if one.digest == cycle.digest), None)
        if one is None:
            return self._end(cycle, "dropped", "the service has it no more")
        if one.state == "active":
            return self._served(cycle)
        if one.state in ("retired", "rejected"):
            return self._end(cycle, "dropped", one.reason or f"it is {one.state}")
        return None

    def _served(self, cycle: Cycle) -> Cycle:
        self.store.set_key("served", {"digest": cycle.digest, "upto": cycle.upto,
                                      "learned_until_ms": cycle.learned_until_ms})
        return self.store.advance(cycle, "active")

    def _end(self, cycle: Cycle, state: str, reason: str) -> Cycle:
        return self.store.advance(cycle, state, reason=reason)

    def _to_base(self) -> None:
        for _ in range(ROLLBACKS_MAX):
            serving = self._serving(self.service.versions())
            if serving == "":
                break
            self.service.roll_back(serving)
        self.store.set_key("served", {})

    @staticmethod
    def _serving(versions: Sequence[Served]) -> str:
        return next((one.digest for one in versions if one.state == "active"), "")

    @staticmethod
    def _state_of(cycle: Cycle, versions: Sequence[Served]) -> str:
        return next((one.state for one in versions if one.digest == cycle.digest), "")

    def _live_items(self) -> dict[str, LiveItem]:
        """Read once a round: a catalogue is large, and its steps go by the same items."""
        self.live = self.service.items() if self.live is None else self.live
        return self.live

    def _folder_of(self, cycle: Cycle) -> Path:
        return self.store.folder / "versions" / f"{cycle.id:06d}"

    def _folder(self, digest: str) -> Path:
        cycle = self.store.of_version(digest)
        return self._folder_of(cycle) if cycle else self.store.folder / "versions" / "none"

    def _parent_folder(self, cycle: Cycle) -> Path | None:
        return self._folder(cycle.parent) if cycle.parent else None

    def _forget(self) -> None:
        """Bounds the state: behaviours, cycles and folders."""
        now_ms = int(self.clock() * 1000)
        served = (self.store.key("served") or {}).get("digest", "")
        lineage = self.store.lineage(served)[:FOLDERS_KEPT]
        self.store.prune(now_ms - int(self.settings.window_hours * 3_600_000),
                         self.settings.rows_max, CYCLES_KEPT, lineage)
        kept = {self._folder_of(cycle) for cycle in lineage}
        for folder in (self.store.folder / "versions").glob("*"):
            if folder not in kept:
                shutil.rmtree(folder, ignore_errors=True)

    def _timed(self, name: str, work: Callable[[], Any]) -> Any:
        begun = time.monotonic()
        try:
            return work()
        finally:
            spent = time.monotonic() - begun
            self.seconds[name] = self.seconds.get(name, 0.0) + spent

    def _outcome(self, verdict: str, reason: str, cycle: Cycle | None = None) -> Outcome:
        left, self.left, alarms, self.alarms = self.left, Counter(), self.alarms, {}
        return Outcome(verdict, reason, cycle, left, alarms, dict(self.seconds))
