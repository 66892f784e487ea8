"""Sets: to train on, to choose the epoch by, and to test the chosen weights on."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from .errors import InputError
from .history import Answers, Behaviour, User, Users, answers_of


@dataclass(frozen=True)
class Case:
    """History of a user, oldest first, and their next items; `profile` is the user's."""

    history: list[Behaviour]
    target: Behaviour
    profile: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Split:
    """`trained` has nothing of the targets of `validation`, nor those of `test`."""

    trained: Users
    validation: list[Case]
    test: list[Case]


def split_last(users: Users, answers: Answers) -> Split:
    """The last behaviour of each user that may be an answer is the test's, the one before it the
    validation's, where something was done before them; all before both is trained on."""
    trained: Users = {}
    validation, test = [], []
    for name, user in users.items():
        done = user.behaviours
        last = [place for place, one in enumerate(done) if answers(one)][-2:]
        if last and last[-1] > 0:
            test.append(_case(user, last[-1]))
        if len(last) == 2 and last[0] > 0:
            validation.append(_case(user, last[0]))
        known = last[0] if last else len(done)
        # Of a user's only two the first is trained on: nothing was done before it.
        known = known or 1
        trained[name] = User(done[:known], user.profile)
    return Split(trained, validation, test)


def split_time(users: Users, share: float, answers: Answers) -> Split:
    """The newest `share` of all behaviours is the test's, as much before it the validation's; each
    of them that may be an answer is a case where its user had done anything before."""
    moments = np.sort(np.array([one.time for user in users.values() for one in user.behaviours]))
    first, second = (float(moments[min(len(moments) - 1, int(len(moments) * (1 - n * share)))])
                     for n in (2, 1))
    trained: Users = {}
    validation: list[Case] = []
    test: list[Case] = []
    for name, user in users.items():
        done = user.behaviours
        known = sum(one.time < first for one in done)
        if known:
            trained[name] = User(done[:known], user.profile)
        for place in range(max(1, known), len(done)):
            if answers(done[place]):
                into = validation if done[place].time < second else test
                into.append(_case(user, place))
    return Split(trained, validation, test)


def _case(user: User, place: int) -> Case:
    return Case(user.behaviours[:place], user.behaviours[place], user.profile)


def split(users: Users, how: str, share: float, actions: list[str] | None = None) -> Split:
    """As `--split` asks. Errors: InputError where times are asked for and not there, and of an
    action that no behaviour has."""
    done = {one.action for user in users.values() for one in user.behaviours} if actions else set()
    for action in actions or ():
        if action not in done:
            known = ", ".join(repr(one) for one in sorted(done)[:10])
            raise InputError("--answers", f"an action of the behaviours, such as {known}", action)
    answers = answers_of(actions)
    if how == "none":
        return Split(users, [], [])
    if how == "last":
        return split_last(users, answers)
    if not all(user.has_times for user in users.values()):
        raise InputError("--sequences", "JSON lines with `times` for --split time", "none")
    return split_time(users, share, answers)


def sample(cases: list[Case], count: int, seed: int) -> list[Case]:
    """Some of the cases, the same for a seed."""
    if count >= len(cases):
        return cases
    places = np.random.default_rng(seed).choice(len(cases), count, replace=False)
    return [cases[place] for place in places]
