"""The line of a round, and those of a long training."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from .cycle import Outcome

#: Between two lines of a training.
BEAT_SECONDS = 60.0
#: Of a core, below which a training waits for other work more than it trains.
STARVED = 0.5


class Beat:
    """Hears how far a training is, or a scoring of rows before or behind it, says so once a minute,
    and that it starves where it does: other work may take all there is."""

    def __init__(self, say: Callable[[str], None], clock: Callable[[], float] = time.monotonic,
                 used: Callable[[], float] = time.process_time) -> None:
        self.say, self.clock, self.used = say, clock, used
        self.begin()

    def begin(self) -> None:
        """Work begins: what passed before was no work."""
        self.since, self.used_then = self.clock(), self.used()

    def tell(self, done: str) -> None:
        passed, used = self.clock() - self.since, self.used() - self.used_then
        if passed < BEAT_SECONDS:
            return
        share = used / passed
        starves = f"; it got {share:.1%} of a core: other work comes first" * (share < STARVED)
        self.say(f"{done}{starves}")
        self.begin()


def line(outcome: Outcome) -> str:
    """One line a round: examples, losses, verdict, seconds of the steps."""
    at = datetime.now(UTC).strftime("%H:%M:%S")
    cycle = outcome.cycle
    if cycle is None:
        return f"{at} {outcome.verdict}: {outcome.reason}{_left(outcome)}"
    notes = cycle.notes
    parts = [f"{at} cycle {cycle.id}: {notes.get('new', 0)} new and {notes.get('replayed', 0)} "
             f"replayed examples{_left(outcome)}"]
    if "loss_first" in notes:
        parts.append(f"loss {notes['loss_first']:.4f} -> {notes['loss_last']:.4f}")
    gate = notes.get("gate", {})
    if "candidate" in gate:
        parts.append(f"held out ({gate['held_out']}) base {gate['base']:.4f}, before "
                     f"{gate['parent']:.4f}, now {gate['candidate']:.4f} "
                     f"({gate['difference']:+.4f} ± {gate['error']:.4f})")
    parts.append(_clicks(notes.get("clicks")))
    reason = f" ({outcome.reason})" if outcome.reason else ""
    named = f" {cycle.digest[:12]}" if cycle.digest else ""
    parts.append(f"{outcome.verdict}{named}{reason}")
    parts.append("seconds " + " ".join(f"{name} {spent:.1f}"
                                       for name, spent in outcome.seconds.items() if spent > 0.05))
    return "; ".join(part for part in parts if part)


def _left(outcome: Outcome) -> str:
    if not outcome.left:
        return ""
    return ", left out " + ", ".join(f"{count} {reason}"
                                     for reason, count in sorted(outcome.left.items()))


def _clicks(found: dict[str, Any] | None) -> str:
    if not found:
        return ""
    rates = [f"{100 * hits / answers:.1f} %" if answers else "none"
             for hits, answers in (found["canary"], found["active"])]
    return f"clicked {rates[0]} beside {rates[1]}: {found['verdict']}"
