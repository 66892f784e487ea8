"""The generated world of the demo: ads with readable titles, users with tastes.

A semantic ID is (category, topic, ad), so that neighbours in the tree mean alike. Some semantic
IDs hold the same product from two or three advertisers.
"""

from dataclasses import dataclass

import numpy as np

from .data import ItemText, SidIndex

DAYPARTS = ["morning", "afternoon", "evening", "night"]
DAYPART_HOURS = {"morning": 8, "afternoon": 14, "evening": 19, "night": 23}
ADS_PER_TOPIC = 11
SHARED_SID_SHARE = 0.04
DAY_SECONDS = 86_400
FIRST_DAY = 1_700_006_400  # 2023-11-15 00:00 UTC

# Category -> (liking by daypart, qualifiers, topic -> products).
CATEGORIES: dict[str, tuple[tuple[float, float, float, float], list[str], dict[str, list[str]]]] = {
    "running": ((3.0, 0.8, 0.8, 0.2), ["waterproof", "lightweight", "reflective", "cushioned"], {
        "shoes": ["Trail running shoes", "Road running shoes", "Carbon racing shoes"],
        "clothing": ["Running jacket", "Running tights", "Merino running shirt"],
        "watches": ["GPS running watch", "Chest heart-rate strap", "Foot pod"],
        "hydration": ["Hydration vest", "Soft flask", "Running belt"],
        "nutrition": ["Energy gels", "Electrolyte tablets", "Recovery drink"]}),
    "coffee": ((3.0, 1.0, 0.3, 0.2), ["hand-made", "compact", "single-origin", "barista grade"], {
        "beans": ["Espresso beans", "Filter coffee beans", "Decaf beans"],
        "machines": ["Espresso machine", "Capsule machine", "Moka pot"],
        "grinders": ["Burr grinder", "Hand grinder", "Dosing cup"],
        "cups": ["Travel mug", "Cappuccino cups", "Cold brew jar"],
        "filters": ["Paper filters", "Pour-over dripper", "Gooseneck kettle"]}),
    "cycling": ((1.8, 1.4, 0.6, 0.2), ["tubeless", "aluminium", "carbon", "winter"], {
        "bicycles": ["Gravel bicycle", "City bicycle", "Folding bicycle"],
        "helmets": ["Road helmet", "Commuter helmet", "Mountain helmet"],
        "lights": ["Front light", "Rear light", "Dynamo light"],
        "bags": ["Pannier bags", "Saddle bag", "Handlebar bag"],
        "parts": ["Gravel tyres", "Disc brake pads", "Chain and cassette"]}),
    "office": ((1.4, 2.6, 0.4, 0.2), ["ergonomic", "wireless", "foldable", "height-adjustable"], {
        "chairs": ["Desk chair", "Kneeling chair", "Saddle stool"],
        "desks": ["Standing desk", "Corner desk", "Laptop stand"],
        "keyboards": ["Mechanical keyboard", "Split keyboard", "Number pad"],
        "screens": ["27-inch monitor", "Ultrawide monitor", "Monitor arm"],
        "paper": ["Dotted notebook", "Fountain pen", "Desk planner"]}),
    "gardening": ((1.2, 2.4, 0.8, 0.2), ["hardy", "rust-free", "organic", "compact"], {
        "seeds": ["Tomato seeds", "Wildflower seeds", "Salad seeds"],
        "tools": ["Pruning shears", "Garden spade", "Weeding fork"],
        "pots": ["Terracotta pots", "Raised bed", "Balcony planter"],
        "watering": ["Watering can", "Drip irrigation set", "Garden hose"],
        "lawn": ["Push mower", "Lawn seed", "Hedge trimmer"]}),
    "kitchen": ((0.6, 1.0, 2.6, 0.4), ["stainless", "non-stick", "dishwasher-safe", "forged"], {
        "knives": ["Chef's knife", "Bread knife", "Paring knife"],
        "pans": ["Cast-iron pan", "Wok", "Saucepan set"],
        "baking": ["Bread tin", "Stand mixer", "Rolling pin"],
        "storage": ["Glass food boxes", "Spice rack", "Bread bin"],
        "gadgets": ["Kitchen scale", "Rice cooker", "Stick blender"]}),
    "travel": ((0.8, 1.8, 1.4, 0.6), ["cabin-size", "water-resistant", "lockable", "foldable"], {
        "suitcases": ["Hard-shell suitcase", "Cabin suitcase", "Children's suitcase"],
        "rucksacks": ["Day rucksack", "Trekking rucksack", "Laptop rucksack"],
        "comfort": ["Neck pillow", "Sleep mask", "Compression socks"],
        "stays": ["City hotel weekend", "Mountain hut stay", "Seaside apartment"],
        "tickets": ["Night train ticket", "Ferry crossing", "Rail pass"]}),
    "films": ((0.2, 0.4, 2.6, 2.2), ["restored", "director's cut", "4K", "subtitled"], {
        "thrillers": ["Nordic thriller", "Spy thriller", "Heist film"],
        "comedies": ["Family comedy", "Romantic comedy", "Stand-up special"],
        "documentaries": ["Ocean documentary", "Space documentary", "Cooking documentary"],
        "animation": ["Hand-drawn animation", "Puppet animation", "Short-film collection"],
        "projectors": ["Home projector", "Projection screen", "Sound bar"]}),
    "games": ((0.2, 0.6, 1.8, 3.0), ["co-op", "deluxe", "classic", "remastered"], {
        "strategy": ["City-building game", "Space strategy game", "Turn-based tactics"],
        "board": ["Worker-placement board game", "Party board game", "Solo card game"],
        "puzzles": ["1000-piece jigsaw", "Wooden puzzle", "Escape-room box"],
        "consoles": ["Handheld console", "Game controller", "Charging dock"],
        "headsets": ["Gaming headset", "Desk microphone", "Capture card"]}),
    "music": ((0.8, 0.8, 1.6, 1.6), ["hi-res", "vintage", "beginner", "studio"], {
        "headphones": ["Over-ear headphones", "In-ear headphones", "Open-back headphones"],
        "vinyl": ["Turntable", "Jazz vinyl box", "Record sleeves"],
        "guitars": ["Acoustic guitar", "Electric guitar", "Guitar strings"],
        "keyboards": ["Stage piano", "Synthesiser", "Piano stool"],
        "speakers": ["Bookshelf speakers", "Bluetooth speaker", "Subwoofer"]}),
    "skincare": ((1.6, 0.6, 1.0, 1.6), ["fragrance-free", "vegan", "for dry skin", "SPF 30"], {
        "moisturisers": ["Day cream", "Night cream", "Body lotion"],
        "cleansers": ["Foaming cleanser", "Cleansing oil", "Micellar water"],
        "serums": ["Vitamin C serum", "Retinol serum", "Hyaluronic serum"],
        "sun": ["Sun lotion", "After-sun gel", "Lip balm"],
        "shaving": ["Safety razor", "Shaving cream", "Beard oil"]}),
    "pets": ((1.6, 1.2, 1.4, 0.4), ["grain-free", "washable", "indestructible", "for seniors"], {
        "dog food": ["Dry dog food", "Puppy food", "Dental chews"],
        "cat food": ["Wet cat food", "Kitten food", "Cat treats"],
        "beds": ["Dog bed", "Cat cave", "Travel crate"],
        "toys": ["Rope toy", "Feather wand", "Treat puzzle"],
        "walks": ["Dog harness", "Reflective lead", "Paw wax"]}),
}
#: Percent off; as many ads without one as with one.
DISCOUNTS = [0, 0, 0, 0, 0, 10, 20, 30, 40, 50]
BRANDS = ["Alder", "Brisk", "Corvid", "Dune", "Ember", "Fjord", "Grove", "Harbour"]
ADVERTISERS = ["Northway Retail", "Lantern Market", "Quayside Stores", "Copper Lane", "Meadow & Co"]


@dataclass(frozen=True)
class Ad:
    """One ad: where it stands in the tree, what it says, how popular it is."""

    item: str
    sid: tuple[int, int, int]
    category: int
    topic: int
    weight: float
    text: ItemText


@dataclass(frozen=True)
class Taste:
    """Taste of a user: a weight per category, and per topic within each category."""

    categories: np.ndarray
    topics: np.ndarray

    def favourites(self) -> list[int]:
        """Categories that the user was given a taste for, strongest first."""
        order = np.argsort(-self.categories)
        return [int(place) for place in order if self.categories[place] > 0.1]


class World:
    """All ads and the way users choose among them; everything follows from the seed."""

    def __init__(self, seed: int) -> None:
        self.names = list(CATEGORIES)
        self.ads = _make_ads(np.random.default_rng([seed, 0]), np.random.default_rng([seed, 7]))
        self.affinity = np.array([CATEGORIES[name][0] for name in self.names])
        self.by_topic: dict[tuple[int, int], list[Ad]] = {}
        for ad in self.ads:
            self.by_topic.setdefault((ad.category, ad.topic), []).append(ad)

    def index(self) -> SidIndex:
        return SidIndex({ad.item: ad.sid for ad in self.ads}, 3,
                        ["<a_{code}>", "<b_{code}>", "<c_{code}>"], False)

    def texts(self) -> dict[str, ItemText]:
        return {ad.item: ad.text for ad in self.ads}

    def taste(self, rng: np.random.Generator) -> Taste:
        """One to three favourite categories, one or two favourite topics in each."""
        categories = np.full(len(self.names), 0.01)
        count = int(rng.integers(1, 4))
        chosen = rng.choice(len(self.names), count, replace=False)
        categories[chosen] = rng.uniform(0.6, 1.4, count)
        topics = rng.dirichlet(np.full(5, 0.5), len(self.names)) + 0.02
        return Taste(categories, topics / topics.sum(1, keepdims=True))

    def choose(self, taste: Taste, daypart: int, last: Ad | None,
               rng: np.random.Generator) -> Ad:
        """The next ad that the user clicks; half of the time of the last one's topic."""
        liking = taste.categories * self.affinity[:, daypart]
        same_topic = last is not None and rng.random() < 0.5 * min(
            1.0, self.affinity[last.category, daypart])
        if same_topic and last is not None:
            category, topic = last.category, last.topic
        else:
            category = int(rng.choice(len(liking), p=liking / liking.sum()))
            topic = int(rng.choice(5, p=taste.topics[category]))
        ads = self.by_topic[category, topic]
        weights = np.array([ad.weight * (0.1 if last is ad else 1.0) for ad in ads])
        return ads[int(rng.choice(len(ads), p=weights / weights.sum()))]

    def history(self, taste: Taste, length: int,
                rng: np.random.Generator) -> list[tuple[Ad, int]]:
        """Clicks, oldest first, with the daypart of each."""
        clicks: list[tuple[Ad, int]] = []
        for _ in range(length):
            daypart = int(rng.integers(len(DAYPARTS)))
            last = clicks[-1][0] if clicks else None
            clicks.append((self.choose(taste, daypart, last, rng), daypart))
        return clicks


def _make_ads(rng: np.random.Generator, offers: np.random.Generator) -> list[Ad]:
    ads: list[Ad] = []
    for category, (name, (_, qualifiers, topics)) in enumerate(CATEGORIES.items()):
        for topic, (topic_name, products) in enumerate(topics.items()):
            pairs = [(product, qualifier) for product in products for qualifier in qualifiers]
            rng.shuffle(pairs)
            for code, (product, qualifier) in enumerate(pairs[:ADS_PER_TOPIC]):
                copies = 1
                if rng.random() < SHARED_SID_SHARE:
                    copies = int(rng.integers(2, 4))
                brand = BRANDS[int(rng.integers(len(BRANDS)))]
                sellers = rng.choice(len(ADVERTISERS), copies, replace=False)
                for seller in sellers:
                    attributes = {
                        "category": name, "topic": topic_name, "brand": brand,
                        "advertiser": ADVERTISERS[int(seller)],
                        "bid": round(float(rng.uniform(0.05, 2.5)), 2),
                        "discount": int(offers.choice(DISCOUNTS))}
                    text = ItemText(f"{product}, {qualifier}, by {brand}", attributes)
                    weight = 1.0 / (1 + code) ** 0.5
                    ads.append(Ad(str(len(ads) + 1), (category, topic, code), category, topic,
                                  weight, text))
    return ads
