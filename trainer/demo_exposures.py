"""Exposures in the demo's world: what users are shown, and the truth's chances that they click and
buy it."""

from dataclasses import dataclass

import numpy as np

from .demo_truth import LIKES_AGAIN, POSITION_BIAS, STAYS_IN_TOPIC, Truth, Visitor
from .demo_world import DAYPARTS
from .history import Behaviour
from .item_states import Impression, ItemTemplate
from .prompts import PromptWriter

#: Ads of an impression: that the user might choose, first and later ones of a recall, and any.
CHOSEN, FIRST, LATER, DRAWN = 8, 10, 8, 6
#: Ads of a recall.
RECALLED = 120
PAGE = 10
LOOKS = np.arange(1, PAGE + 1) ** -POSITION_BIAS
CLICKS_MAX, VISITS_MAX = 24, 40
#: Share of users whose clicks are of all ads; others click what pages show.
FREE = 0.3
PROFILE_SHOWN = 0.5
#: Hours from one click of a user to the next, and from one visit.
CLICK_HOURS, VISIT_HOURS = 2.4, 1.2
#: Shares of a day's visits by its parts (tools/world/daypart.ts).
VISITS = np.array([0.278, 0.257, 0.319, 0.146])
#: Clicks of a topic, and of a category, at which a guess begins.
TOPIC_PRIOR, CATEGORY_PRIOR = 0.15, 0.05


@dataclass(frozen=True)
class Shown:
    """Rows of impressions: number of the impression, place of the ad in the world, and chances
    by head."""

    impressions: np.ndarray
    ads: np.ndarray
    chances: dict[str, np.ndarray]

    def drawn(self, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Outcomes, 0 or 1: who buys has clicked."""
        luck = rng.random(len(self.ads))
        return {name: (luck < chance).astype(np.float64) for name, chance in self.chances.items()}


def a_visitor(truth: Truth, rng: np.random.Generator) -> Visitor:
    """A user with clicks of some days, in which their taste has moved."""
    visitor = Visitor(truth.world.taste(rng), None, [])
    if rng.random() < FREE:
        _choose_freely(truth, visitor, rng)
        if rng.random() < PROFILE_SHOWN:
            visitor.interest = truth.world.names[visitor.taste.favourites()[0]]
    else:
        _visit(truth, visitor, rng)
    return visitor


def _choose_freely(truth: Truth, visitor: Visitor, rng: np.random.Generator) -> None:
    last = None
    for _ in range(int(rng.integers(CLICKS_MAX + 1))):
        last = truth.world.choose(visitor.taste, int(rng.integers(len(DAYPARTS))), last, rng)
        visitor.clicks.append(truth.places[last.item])
        truth.move(visitor, CLICK_HOURS, rng)


def _visit(truth: Truth, visitor: Visitor, rng: np.random.Generator) -> None:
    """A user clicks what they are shown, and is shown more like it: of such clicks many in one
    topic say less about a taste than of clicks among all ads."""
    for _ in range(int(rng.integers(VISITS_MAX + 1))):
        daypart = int(rng.choice(len(DAYPARTS), p=VISITS))
        page = np.argsort(-guesses(truth, visitor.clicks, daypart), kind="stable")[:PAGE]
        last = visitor.clicks[-1] if visitor.clicks else None
        chances = LOOKS * truth.attractions(visitor.taste, daypart, last)[page]
        visitor.clicks += page[rng.random(PAGE) < chances].tolist()
        truth.move(visitor, VISIT_HOURS, rng)


def guesses(truth: Truth, clicks: list[int], daypart: int) -> np.ndarray:
    """Liking of all ads as clicks suggest it: what a recall would give, without a model."""
    affinity = truth.world.affinity
    counts = np.full((len(affinity), truth.topics.max() + 1), TOPIC_PRIOR)
    np.add.at(counts, (truth.categories[clicks], truth.topics[clicks]), 1.0)
    of_category = counts.sum(1) - TOPIC_PRIOR * counts.shape[1] + CATEGORY_PRIOR
    of_category *= affinity[:, daypart] / affinity.mean(1)
    of_topic = (of_category / of_category.sum())[:, None] * counts / counts.sum(1, keepdims=True)
    found = of_topic[truth.categories, truth.topics]
    if clicks:
        last = clicks[-1]
        stays = STAYS_IN_TOPIC * min(1.0, affinity[truth.categories[last], daypart])
        found = (1 - stays) * found + stays * truth.is_same_topic(last)
        found[last] *= LIKES_AGAIN
    return found * truth.shares


def prompt_of(truth: Truth, visitor: Visitor, daypart: int, writer: PromptWriter) -> list[int]:
    profile = {} if visitor.interest is None else {"interest": visitor.interest}
    clicks = [Behaviour(truth.world.ads[place].item) for place in visitor.clicks]
    return writer.prompt(profile, {"daypart": DAYPARTS[daypart]}, clicks).tokens


def _shown_to(truth: Truth, visitor: Visitor, daypart: int, rng: np.random.Generator) -> np.ndarray:
    world, clicks = truth.world, visitor.clicks
    last = world.ads[clicks[-1]] if clicks else None
    chosen = [truth.places[world.choose(visitor.taste, daypart, last, rng).item]
              for _ in range(CHOSEN)]
    recalled = np.argsort(-guesses(truth, clicks, daypart), kind="stable")[:RECALLED]
    return np.unique([*chosen, *recalled[:FIRST], *rng.choice(recalled[FIRST:], LATER),
                      *rng.integers(len(world.ads), size=DRAWN)])


def make_exposures(truth: Truth, count: int, writer: PromptWriter, item: ItemTemplate, seed: int
                   ) -> tuple[Shown, list[Impression]]:
    """Each impression is of another user."""
    rng = np.random.default_rng([seed, 3])
    numbers, ads, impressions = [], [], []
    chances: dict[str, list[np.ndarray]] = {"click": [], "purchase": []}
    rows = 0
    for number in range(count):
        visitor, daypart = a_visitor(truth, rng), int(rng.integers(len(DAYPARTS)))
        shown = _shown_to(truth, visitor, daypart, rng)
        last = visitor.clicks[-1] if visitor.clicks else None
        clicked = truth.attractions(visitor.taste, daypart, last)[shown]
        chances["click"].append(clicked)
        chances["purchase"].append(clicked * truth.purchases[shown])
        impressions.append(Impression(
            prompt_of(truth, visitor, daypart, writer),
            [item.tokens(truth.world.ads[place].item) for place in shown],
            np.arange(rows, rows + len(shown))))
        numbers.append(np.full(len(shown), number))
        ads.append(shown)
        rows += len(shown)
    return Shown(np.concatenate(numbers), np.concatenate(ads),
                 {name: np.concatenate(of) for name, of in chances.items()}), impressions
