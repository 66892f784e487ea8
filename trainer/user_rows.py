"""Training rows: what users did, as prompts with answers, augmented afresh in every epoch."""

from bisect import bisect_right
from dataclasses import dataclass, replace

import numpy as np

from .history import Answers, Behaviour, User, Users
from .prompts import PromptWriter
from .samples import Row


@dataclass(frozen=True)
class Augmentation:
    """`drop`: chance that an item of a row is left out. `shuffle`: how many places an item may
    wander (0 keeps the order). `shuffled_share`: share of rows that are shuffled."""

    drop: float = 0.0
    shuffle: float = 0.0
    shuffled_share: float = 0.5


class UserRows:
    """Rows of users as the prompts of a template show them, each ending with a behaviour that may
    be an answer; the loss counts that one, and those before it that may be answers as well.

    A row shows what the service would. A user of more behaviours has several rows, which overlap by
    about half, so that an early item of one has a history in another. Where an answer does not
    stand in a prompt as the items before it do (behind a scene, for example), the items of a
    history teach less: each row then has a second one beside it, which ends at a random place."""

    def __init__(self, users: Users, writer: PromptWriter, answers: Answers,
                 augmentation: Augmentation) -> None:
        self.users = [(user, places) for user, places in
                      ((user, _places(user, answers)) for user in users.values()) if places]
        self.writer, self.answers, self.augmentation = writer, answers, augmentation
        self.ends_twice = not writer.template.answers_follow_items

    def epoch(self, rng: np.random.Generator) -> list[Row]:
        """One pass over all users. A row without a prompt, which the service refuses, is left
        out."""
        rows = []
        for user, places in self.users:
            number = len(places) - 1
            while number >= 0:
                place = places[number]
                row, unseen = self._row(user, place, rng)
                rows.append(row)
                if self.ends_twice and number > 0:
                    rows.append(self._row(user, places[int(rng.integers(number))], rng)[0])
                if unseen == 0:
                    break
                # The next row ends among those that this one shows, or right before them.
                span = place - unseen
                end = unseen + span // 4 + int(rng.integers(span // 2 + 1))
                number = bisect_right(places, min(end, place - 1)) - 1
        return [row for row in rows if not row.counted[0]]

    def _row(self, user: User, place: int, rng: np.random.Generator) -> tuple[Row, int]:
        """The row that ends at a place, and how many behaviours before it are too old for it."""
        *history, answer = self._augment(user.behaviours[:place + 1], rng)
        row, prompt = self.writer.row(user.profile, history, answer, self.answers)
        first = min((shown.place for shown in prompt.shown), default=len(history))
        return row, 0 if first == 0 else place - (len(history) - first)

    def _augment(self, behaviours: list[Behaviour], rng: np.random.Generator) -> list[Behaviour]:
        plan, made = self.augmentation, behaviours
        if plan.drop > 0 and len(made) > 2:
            keep = rng.random(len(made)) >= plan.drop
            if keep.sum() >= 2:
                made = [one for one, kept in zip(made, keep, strict=True) if kept]
        if plan.shuffle > 0 and rng.random() < plan.shuffled_share:
            places = np.arange(len(made)) + rng.random(len(made)) * plan.shuffle
            times = [one.time for one in made]
            made = [made[i] for i in np.argsort(places, kind="stable")]
            if self.writer.template.uses_times:
                made = [replace(one, time=time) for one, time in zip(made, times, strict=True)]
        while made and not self.answers(made[-1]):
            made = made[:-1]
        return made or behaviours


def _places(user: User, answers: Answers) -> list[int]:
    return [place for place, one in enumerate(user.behaviours) if answers(one)]
