"""What is trained on, what chooses the epoch, and what the chosen weights are tested on."""

from dataclasses import dataclass

import numpy as np

from .errors import InputError

Sequences = dict[str, list[str]]


@dataclass(frozen=True)
class Case:
    """What a user had done, oldest first, and what they did next."""

    history: list[str]
    target: str


@dataclass(frozen=True)
class Split:
    """`trained` has nothing of the targets of `validation`, nor those of `test`."""

    trained: Sequences
    validation: list[Case]
    test: list[Case]


def split_last(sequences: Sequences) -> Split:
    """The last item of each user is the test's, the one before it the validation's. A user of two
    items has none for the validation; of one item, none at all."""
    trained: Sequences = {}
    validation, test = [], []
    for user, items in sequences.items():
        trained[user] = items[:max(1, len(items) - 2)]
        if len(items) >= 3:
            validation.append(Case(items[:-2], items[-2]))
        if len(items) >= 2:
            test.append(Case(items[:-1], items[-1]))
    return Split(trained, validation, test)


def split_time(sequences: Sequences, times: dict[str, list[float]], share: float) -> Split:
    """The newest `share` of all behaviours is the test's, as much before it the validation's; each
    of them is a case where its user had done anything before."""
    moments = np.sort(np.concatenate([np.array(times[user]) for user in sequences]))
    first, second = (float(moments[min(len(moments) - 1, int(len(moments) * (1 - n * share)))])
                     for n in (2, 1))
    trained: Sequences = {}
    validation: list[Case] = []
    test: list[Case] = []
    for user, items in sequences.items():
        when = times[user]
        known = sum(moment < first for moment in when)
        if known:
            trained[user] = items[:known]
        for place in range(max(1, known), len(items)):
            into = validation if when[place] < second else test
            into.append(Case(items[:place], items[place]))
    return Split(trained, validation, test)


def split(sequences: Sequences, times: dict[str, list[float]] | None, how: str,
          share: float) -> Split:
    """As `--split` asks. Errors: InputError where times are asked for and not there."""
    if how == "none":
        return Split(sequences, [], [])
    if how == "last":
        return split_last(sequences)
    if times is None:
        raise InputError("--sequences", "JSON lines with `times` for --split time", "none")
    return split_time(sequences, times, share)


def sample(cases: list[Case], count: int, seed: int) -> list[Case]:
    """Some of the cases, the same for a seed."""
    if count >= len(cases):
        return cases
    places = np.random.default_rng(seed).choice(len(cases), count, replace=False)
    return [cases[place] for place in places]
