"""Truth of the demo's world: with which probability its users click and buy, the same as that of
`npm run world` without drift (tools/world/truth.ts)."""

from dataclasses import dataclass

import numpy as np

from .demo_world import Taste, World

STAYS_IN_TOPIC = 0.5
LIKES_AGAIN = 0.1
#: Turns the probability that an ad is the next click into that of a click on a shown one.
EAGERNESS = 5
#: Fall of liking with the price; and the discount of an ad that is liked as its topic and weight
#: say, percent (tools/world/truth.ts).
ELASTICITY, USUAL_DISCOUNT = 3.5, 25
#: A place of a page, from 1, is looked at with probability 1 / place^0.7.
POSITION_BIAS = 0.7
PURCHASED_MAX = 0.3
#: Hours after which a user has another favourite category, and other topics in one, on average.
FAVOURITE_HOURS, TOPICS_HOURS = 96, 48
#: Purpose of draws about purchases (tools/world/random.ts).
PURCHASE_DRAW = 10
BITS = 0xFFFFFFFF


@dataclass
class Visitor:
    """A user who comes back: their taste moves, and clicks are added to the history (places of
    ads, oldest first). `interest`: what they declared, if anything."""

    taste: Taste
    interest: str | None
    clicks: list[int]


class Truth:
    """Probabilities of all ads at once, in the order of the world's."""

    def __init__(self, world: World, seed: int) -> None:
        self.world = world
        self.categories = np.array([ad.category for ad in world.ads])
        self.topics = np.array([ad.topic for ad in world.ads])
        weights = np.array([ad.weight for ad in world.ads])
        totals = np.zeros((len(world.names), self.topics.max() + 1))
        np.add.at(totals, (self.categories, self.topics), weights)
        self.shares = weights / totals[self.categories, self.topics]
        self.places = {ad.item: place for place, ad in enumerate(world.ads)}
        self.purchases = np.array([PURCHASED_MAX * drawn(seed, PURCHASE_DRAW, text_key(ad.item))
                                   for ad in world.ads])
        """Of each ad: probability that a click becomes a purchase."""
        discounts = np.array([ad.text.attributes["discount"] for ad in world.ads])
        self.offers = ((100 - USUAL_DISCOUNT) / (100 - discounts)) ** ELASTICITY
        """Of each ad: factor of the liking."""

    def attractions(self, taste: Taste, daypart: int, last: int | None) -> np.ndarray:
        """Probability that a user who looks at an ad clicks it; `last`: the ad clicked last."""
        liking = taste.categories * self.world.affinity[:, daypart]
        of_topic = (liking / liking.sum())[self.categories] * taste.topics[self.categories,
                                                                           self.topics]
        again = np.ones(len(self.shares))
        if last is not None:
            category = self.categories[last]
            stays = STAYS_IN_TOPIC * min(1.0, self.world.affinity[category, daypart])
            of_topic = (1 - stays) * of_topic + stays * self.is_same_topic(last)
            again[last] = LIKES_AGAIN
        return 1 - np.exp(-EAGERNESS * of_topic * self.shares * self.offers * again)

    def is_same_topic(self, place: int) -> np.ndarray:
        """True of ads of the topic of one."""
        return ((self.categories == self.categories[place])
                & (self.topics == self.topics[place]))

    def move(self, visitor: Visitor, hours: float, rng: np.random.Generator) -> None:
        """Tastes change while a user is away."""
        taste, favourites = visitor.taste, visitor.taste.favourites()
        one = favourites[int(rng.integers(len(favourites)))]
        other = int(rng.integers(len(taste.categories)))
        if rng.random() < hours / FAVOURITE_HOURS and other not in favourites:
            taste.categories[[one, other]] = taste.categories[[other, one]]
        if rng.random() < hours / TOPICS_HOURS:
            taste.topics[one] = self.world.taste(rng).topics[one]


def drawn(*keys: int) -> float:
    """A number of [0, 1) that depends on its keys alone, as `draw` of tools/world/random.ts."""
    found = 0
    for key in keys:
        found = _mixed(found ^ _mixed(key + 0x9E3779B9)) + 0x6D2B79F5
    return _mixed(found) / 2 ** 32


def text_key(text: str) -> int:
    """Key of a text (FNV-1a)."""
    found = 0x811C9DC5
    for letter in text:
        found = (found ^ ord(letter)) * 0x01000193 & BITS
    return found


def _mixed(value: int) -> int:
    """A bijection of 32 bits (Chris Wellons, lowbias32)."""
    bits = value & BITS
    bits = (bits ^ bits >> 16) * 0x7FEB352D & BITS
    bits = (bits ^ bits >> 15) * 0x846CA68B & BITS
    return bits ^ bits >> 16
