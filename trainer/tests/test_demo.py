"""The demo's world, which is that of `npm run world` (tools/world), and figures of orders in it."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM

from trainer.demo_exposures import a_visitor, guesses
from trainer.demo_figures import Ranked, quotient, table
from trainer.demo_ranking import judged
from trainer.demo_truth import PURCHASE_DRAW, Truth, drawn, text_key
from trainer.demo_world import Taste, World
from trainer.heads import read_ranking
from trainer.item_states import ItemTemplate, Reader, catalogue_rows
from trainer.prompts import read_prompt_folder

ROOT = Path(__file__).resolve().parents[2]
FIXTURE = json.loads((ROOT / "test" / "fixtures" / "world" / "chances.json").read_text())
WORLD = World(7)


def test_users_click_with_the_chances_of_the_service_world():
    truth = Truth(WORLD, FIXTURE["seed"])
    for case in FIXTURE["users"]:
        taste = Taste(np.array(case["categories"]), np.array(case["topics"]))
        last = None if case["last"] is None else truth.places[case["last"]]
        found = truth.attractions(taste, case["daypart"], last)
        for item, chance in case["chances"].items():  # of tastes with four digits
            assert found[truth.places[item]] == pytest.approx(chance, rel=2e-3)
    for item, luck in FIXTURE["purchases"].items():
        assert drawn(FIXTURE["seed"], PURCHASE_DRAW, text_key(item)) == pytest.approx(luck)


def test_visitors_click_what_their_clicks_suggest_more_than_any_ad():
    truth, rng = Truth(WORLD, 7), np.random.default_rng(1)
    visitors = [one for one in (a_visitor(truth, rng) for _ in range(60)) if one.clicks]
    ranks = []
    for one in visitors:
        chances = truth.attractions(one.taste, 0, one.clicks[-1])
        order = np.argsort(-guesses(truth, one.clicks, 0))
        ranks.append(chances[order[:10]].mean() / chances.mean())
    assert np.mean(ranks) > 5


def test_the_heads_of_the_demo_order_better_than_the_score():
    folder = ROOT / "models" / "demo"
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    item = ItemTemplate("{sid}", 16, read_prompt_folder(folder), catalogue_rows(folder))
    users = judged(Truth(WORLD, 7), read_ranking(folder / "ranking"), Reader(model), item, 60, 7)
    told = table(users, np.random.default_rng(1))
    for name, least in (("head over score", 1.25), ("expected over score", 1.25)):
        mean, low = re.search(rf"{name}: ([0-9.]+) .([0-9.]+),", told).groups()
        assert float(mean) >= least and float(low) > 1, told


def test_a_table_tells_how_much_better_a_head_orders_than_the_score():
    likings = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7])
    users = [Ranked(likings, likings, np.ones(7)) for _ in range(3)]
    told = table(users, np.random.default_rng(1))
    assert "head over score: 1.667 [1.667, 1.667]" in told
    assert quotient(np.array([2.0, 1.0]), np.array([1.0, 1.0]), np.random.default_rng(1))[1] == 1.5
