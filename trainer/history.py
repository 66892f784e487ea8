"""Users as the trainer knows them: what they did, oldest first, and their profile."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

#: Of a behaviour or request whose circumstances are not known.
NO_SCENE: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class Behaviour:
    """One thing that a user did. `time` is in seconds since 1970, 0 where it is not known; `action`
    is "" where it is not known; `scene` holds the circumstances in which the user did it."""

    item: str
    time: float = 0.0
    action: str = ""
    scene: Mapping[str, str] = field(default_factory=lambda: NO_SCENE)


@dataclass(frozen=True, slots=True)
class User:
    """`behaviours`, oldest first."""

    behaviours: list[Behaviour]
    profile: Mapping[str, str] = field(default_factory=dict)

    @property
    def items(self) -> list[str]:
        return [behaviour.item for behaviour in self.behaviours]

    @property
    def has_times(self) -> bool:
        return all(behaviour.time for behaviour in self.behaviours)


Users = dict[str, User]


def repeats(users: Users) -> float:
    """Share of the behaviours whose item their user had before."""
    count = sum(len(user.behaviours) for user in users.values())
    distinct = sum(len(set(user.items)) for user in users.values())
    return (count - distinct) / max(1, count)


#: Whether a behaviour may be what a model is to answer.
Answers = Callable[[Behaviour], bool]


def answers_of(actions: list[str] | None) -> Answers:
    """Behaviours of these actions; of all where none are named."""
    if not actions:
        return lambda _behaviour: True
    wanted = frozenset(actions)
    return lambda behaviour: behaviour.action in wanted
