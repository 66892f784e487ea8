"""The demo's version that ranks: heads `click` and `purchase` of exposures in its world. They
correct the recall's score, which knows no discounts."""

from pathlib import Path

import numpy as np
import torch
from tqdm import tqdm
from transformers import AutoModelForCausalLM

from .beam import beam_search
from .demo_exposures import Shown, a_visitor, make_exposures, prompt_of
from .demo_figures import Ranked, table
from .demo_truth import Truth
from .demo_world import DAYPARTS, World
from .head_training import HeadPlan, Targets, train_on_states, with_calibration
from .heads import Attribute, Ranking
from .item_states import Impression, ItemTemplate, Reader, catalogue_rows, readings
from .prompts import read_prompt_folder
from .rank_figures import figures
from .trie import build_trie

IMPRESSIONS = 4000
#: Users of the table of orders, and the ads that a recall gives each.
JUDGED, JUDGED_ADS = 200, 100
#: Shares of the impressions before those that choose, and before those that are measured.
SPLIT = 0.85, 0.92
HEADS = ("click", "purchase")
PLAN = HeadPlan((64, 32), "gelu", epochs=60, patience=5, lr=2e-3, dropout=0.0, weight_decay=0.01,
                seed=1)
DISCOUNT = Attribute("discount", mean=25.0, deviation=15.0)


def write_demo_ranking(world: World, folder: Path, seed: int) -> None:
    """Into `ranking` of the demo's folder; prints figures of exposures that chose nothing."""
    writer = read_prompt_folder(folder)
    item = ItemTemplate("{sid}", 16, writer, catalogue_rows(folder))
    truth = Truth(world, seed)
    shown, impressions = make_exposures(truth, IMPRESSIONS, writer, item, seed)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    reader = Reader(model)
    states, scores = states_of(reader, impressions, model.config.pad_token_id)
    ranking = trained(shown, states, scores, discounts_of(world), seed)
    ranking.save(folder / "ranking")
    print(table(judged(truth, ranking, reader, item, JUDGED, seed),
                np.random.default_rng([seed, 6])))


def judged(truth: Truth, ranking: Ranking, reader: Reader, item: ItemTemplate, count: int,
           seed: int) -> list[Ranked]:
    """Ads that recalls give users of whom no head has learned."""
    rng = np.random.default_rng([seed, 5])
    ads, found = truth.world.ads, []
    bids = np.array([ad.text.attributes["bid"] for ad in ads])
    discounts = discounts_of(truth.world)
    trie = build_trie(truth.world.index())
    ids = [torch.zeros(size, dtype=torch.long) for size in trie.sizes]
    for ad in ads:
        for of_level, code, token in zip(ids, ad.sid, item.writer.items[ad.item].tokens):
            of_level[code] = token
    for _ in tqdm(range(count), desc="judged users", leave=False, disable=None):
        visitor, daypart = a_visitor(truth, rng), int(rng.integers(len(DAYPARTS)))
        prompt = prompt_of(truth, visitor, daypart, item.writer)
        leaves, _ = beam_search(reader.model, torch.tensor([prompt]), trie, ids, JUDGED_ADS)
        recalled = [truth.places[name] for leaf in leaves[0].tolist()
                    for name in trie.leaf_items[leaf]][:JUDGED_ADS]
        impression = Impression(prompt, [item.tokens(ads[place].item) for place in recalled],
                                np.arange(JUDGED_ADS))
        states, scores = states_of(reader, [impression], reader.model.config.pad_token_id)
        answers = ranking.answers(states.numpy(), {"discount": discounts[recalled]},
                                  scores.numpy())
        last = visitor.clicks[-1] if visitor.clicks else None
        found.append(Ranked(truth.attractions(visitor.taste, daypart, last)[recalled],
                            answers["click"], bids[recalled]))
    return found


def discounts_of(world: World) -> np.ndarray:
    return np.array([float(ad.text.attributes["discount"]) for ad in world.ads])


@torch.no_grad()
def states_of(reader: Reader, impressions: list[Impression], pad: int
              ) -> tuple[torch.Tensor, torch.Tensor]:
    """Hidden states and scores of all rows; items are SIDs alone."""
    count = sum(len(one.items) for one in impressions)
    states, scores = torch.zeros(count, reader.model.config.hidden_size), torch.zeros(count)
    for reading in readings(impressions, pad):
        sids = [sid for one in reading.impressions for sid in one.items]
        rows = torch.from_numpy(reading.rows)
        states[rows], scores[rows] = reader.states_and_scores(reading, sids)
    return states, scores


def trained(shown: Shown, states: torch.Tensor, scores: torch.Tensor, discounts: np.ndarray,
            seed: int) -> Ranking:
    """Heads learn chances: of one that is known, drawn outcomes would tell the same with noise.
    Their calibration and figures are of drawn outcomes."""
    count = int(shown.impressions.max()) + 1
    second, last = (int(share * count) for share in SPLIT)
    values = {DISCOUNT.name: discounts[shown.ads]}

    def answers(ranking: Ranking, rows: np.ndarray) -> dict[str, np.ndarray]:
        own = {name: of[rows] for name, of in values.items()}
        return ranking.answers(states[rows].numpy(), own, scores[rows].numpy())

    train = np.flatnonzero(shown.impressions < second)
    later = np.flatnonzero((shown.impressions >= second) & (shown.impressions < last))
    test = np.flatnonzero(shown.impressions >= last)
    labels = {name: torch.tensor(of, dtype=torch.float32) for name, of in shown.chances.items()}
    attributes = torch.tensor(DISCOUNT.inputs(values[DISCOUNT.name])[:, None], dtype=torch.float32)
    targets = Targets(attributes, labels, dict.fromkeys(HEADS, True), torch.ones(len(states)),
                      dict.fromkeys(HEADS, 1.0), scores)
    networks, _ = train_on_states(states, targets, train, later, HEADS, PLAN)
    plain = Ranking("demo", networks.heads(targets, {}), [DISCOUNT], max_item_tokens=16)
    outcomes = shown.drawn(np.random.default_rng([seed, 4]))
    raw = answers(plain, later)
    users = [str(number) for number in shown.impressions]
    heads = [with_calibration(head, "platt", raw[head.name], outcomes[head.name][later],
                              [users[row] for row in later]) for head in plain.heads]
    ranking = Ranking("demo", heads, [DISCOUNT], max_item_tokens=16)
    for name, said in answers(ranking, test).items():
        of = figures(outcomes[name][test], said, [users[row] for row in test])
        print(f"{name:<10} AUC {of.auc:.3f}, per user {of.userAuc:.3f}, calibration error "
              f"{of.calibrationError:.3f}, mean {of.meanPrediction:.3f} of {of.meanLabel:.3f}")
    return ranking
