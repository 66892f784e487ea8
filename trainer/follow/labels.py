"""Samples of heads: shown items at their natural rates, and whether users took them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..history import Behaviour
from .choice import Sample
from .guards import Limits
from .store import Cycle, Example, Store, is_held_out

#: Shown items that heads learn, the newest.
ROWS_MAX = 4000


@dataclass(frozen=True)
class Labelled(Sample):
    """A shown item, and of each head 1 where its user did one of its actions on it, else 0."""

    labels: Mapping[str, float] = field(default_factory=dict)


def shown_to(store: Store, cycle: Cycle, heads: Mapping[str, Sequence[str]],
             limits: Limits) -> list[Labelled]:
    """The newest, in the order of time; none without heads, and none of bots and held-out users."""
    if not heads:
        return []
    bots = set(cycle.notes.get("bots", []))
    recalls = [(one, user) for one, user in store.recalls(0, cycle.shown_upto)
               if user not in bots and not is_held_out(user, limits.held_out)][-ROWS_MAX:]
    users = [user for _, user in recalls]
    done = {name: store.taken(users, actions) for name, actions in heads.items()}
    found: list[Labelled] = []
    for one in reversed(list(store.shown(number for number, _ in recalls[-ROWS_MAX // 4:]))):
        for place, item in enumerate(one.items, 1):
            answer = Behaviour(item, one.time_ms / 1000, "", one.scene)
            labels = {name: float((one.user, one.request, item) in pairs)
                      for name, pairs in done.items()}
            found.append(Labelled(Example(one.user, answer, one.history, one.request),
                                  any(labels.values()), place, 1.0, labels))
        if len(found) >= ROWS_MAX:
            break
    return sorted(found, key=lambda one: one.example.answer.time)
