"""The demo's version that ranks: heads `click` and `purchase` of exposures in its world."""

from pathlib import Path

import numpy as np
import torch
from transformers import AutoModelForCausalLM

from .demo_world import DAYPARTS, Ad, Taste, World
from .exposures import Exposures, slices
from .head_training import HeadPlan, Targets, train_on_states, with_calibration
from .heads import Ranking
from .history import Behaviour
from .item_states import Impression, ItemTemplate, Reader, catalogue_rows, readings
from .prompts import PromptWriter, read_prompt_folder
from .rank_figures import figures

IMPRESSIONS = 3000
#: Of an impression: ads that the user might choose, and any.
CHOSEN, DRAWN = 4, 6
HEADS = ("click", "purchase")
PLAN = HeadPlan((16,), "gelu", epochs=40, patience=3, lr=2e-3, dropout=0.1, weight_decay=0.01,
                seed=1)


def click_chance(world: World, taste: Taste, daypart: int, ad: Ad) -> float:
    """Of an ad that is shown: by the liking of its category and topic at that time of day."""
    liking = taste.categories * world.affinity[:, daypart]
    share = liking[ad.category] / liking.sum() * taste.topics[ad.category, ad.topic]
    return 0.01 + 0.5 * share ** 0.5


def purchase_chance(taste: Taste, ad: Ad) -> float:
    """Of an ad that was clicked: users buy in favourite categories, from the better known ads."""
    return (0.3 if ad.category in taste.favourites() else 0.05) * (0.5 + ad.weight)


def make_exposures(world: World, writer: PromptWriter, item: ItemTemplate, seed: int
                   ) -> tuple[Exposures, list[Impression]]:
    """A user is shown ads once; their number is the time."""
    rng = np.random.default_rng([seed, 3])
    users, items, impressions = [], [], []
    labels: dict[str, list[float]] = {name: [] for name in HEADS}
    for number in range(IMPRESSIONS):
        taste, daypart = world.taste(rng), int(rng.integers(len(DAYPARTS)))
        clicks = world.history(taste, int(rng.integers(3, 20)), rng)
        ads = {ad.item: ad for ad in [
            *(world.choose(taste, daypart, clicks[-1][0], rng) for _ in range(CHOSEN)),
            *(world.ads[place] for place in rng.integers(len(world.ads), size=DRAWN))]}
        for ad in ads.values():
            clicked = rng.random() < click_chance(world, taste, daypart, ad)
            bought = clicked and rng.random() < purchase_chance(taste, ad)
            for name, outcome in zip(HEADS, (clicked, bought), strict=True):
                labels[name].append(float(outcome))
        profile = {"interest": world.names[taste.favourites()[0]]} if rng.random() < 0.5 else {}
        prompt = writer.prompt(profile, {"daypart": DAYPARTS[daypart]},
                               [Behaviour(ad.item) for ad, _ in clicks])
        impressions.append(Impression(prompt.tokens, [item.tokens(one) for one in ads],
                                      np.arange(len(items), len(items) + len(ads))))
        users += [str(number)] * len(ads)
        items += ads
    count = len(items)
    return Exposures(users, np.array(users, np.float64), items,
                     {name: np.array(of) for name, of in labels.items()}, np.ones(count),
                     np.full(count, np.nan)), impressions


def write_demo_ranking(world: World, folder: Path, seed: int) -> None:
    """Into `ranking` of the demo's folder; prints figures of the newest fifth."""
    writer = read_prompt_folder(folder)
    item = ItemTemplate("{sid}", 16, writer, catalogue_rows(folder))
    exposures, impressions = make_exposures(world, writer, item, seed)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    states = torch.zeros(len(exposures), model.config.hidden_size)
    reader = Reader(model)
    with torch.no_grad():
        for reading in readings(impressions, model.config.pad_token_id):
            states[torch.from_numpy(reading.rows)] = reader.last_states(reading)
    labels = {name: torch.tensor(of, dtype=torch.float32) for name, of in exposures.labels.items()}
    targets = Targets(torch.zeros(len(exposures), 0), labels, dict.fromkeys(HEADS, True),
                      torch.ones(len(exposures)), dict.fromkeys(HEADS, 1.0))
    parts = slices(exposures, (0.7, 0.8))
    networks, _ = train_on_states(states, targets, parts.train, parts.calibration, HEADS, PLAN)
    plain = Ranking("demo", networks.heads(targets, {}), max_item_tokens=16)
    raw = plain.answers(states[parts.calibration].numpy(), {})
    later = [exposures.users[row] for row in parts.calibration]
    heads = [with_calibration(head, kind, raw[head.name],
                              exposures.labels[head.name][parts.calibration], later)
             for head, kind in zip(plain.heads, ("platt", "isotonic"), strict=True)]
    ranking = Ranking("demo", heads, max_item_tokens=16)
    ranking.save(folder / "ranking")
    users = [exposures.users[row] for row in parts.test]
    for name, answers in ranking.answers(states[parts.test].numpy(), {}).items():
        of = figures(exposures.labels[name][parts.test], answers, users)
        print(f"{name:<10} AUC {of.auc:.3f}, per user {of.userAuc:.3f}, calibration error "
              f"{of.calibrationError:.3f}, mean {of.meanPrediction:.3f} of {of.meanLabel:.3f}")
