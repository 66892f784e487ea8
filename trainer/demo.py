"""`python -m trainer demo`: generates ads and users, trains a small model, checks its sense."""

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from .beam import beam_search, item_ranks, level_ids, ranking_metrics
from .checkpoint import write_json
from .demo_ranking import write_demo_ranking
from .demo_world import (CATEGORIES, DAY_SECONDS, DAYPART_HOURS, DAYPARTS, FIRST_DAY, Ad, Taste,
                         World)
from .export import export_model, export_static, prompt_document
from .history import Behaviour
from .model import add_dropout, build_model, count_parameters
from .prompts import PromptWriter, items_of
from .samples import Row
from .settings import Plan, Shape
from .template import parse_template
from .tokens import BOS, EOS, PAD, Vocabulary, build_vocabulary, tokenizer_of
from .training import Progress, Training
from .trie import SidTrie, build_trie

USERS = 200
TRAINING_ROWS = 6000
MAX_ITEMS = 20
SHAPE = Shape(layers=3, hidden=128, heads=4, kv_heads=2, head_dim=32, intermediate=256)
PROFILE_SHOWN = 0.6


@dataclass(frozen=True)
class DemoUser:
    """One named user: taste, declared interest and clicks with their dayparts."""

    name: str
    taste: Taste
    interest: str | None
    clicks: list[tuple[Ad, int]]


class DemoRows:
    """New users in every epoch: `<|bos|> [interest] clicks scene` and the next click."""

    def __init__(self, world: World, writer: PromptWriter) -> None:
        self.world, self.writer = world, writer

    def epoch(self, rng: np.random.Generator) -> list[Row]:
        rows = []
        for _ in range(TRAINING_ROWS):
            taste = self.world.taste(rng)
            clicks = self.world.history(taste, int(rng.integers(0, MAX_ITEMS + 1)), rng)
            daypart = int(rng.integers(len(DAYPARTS)))
            last = clicks[-1][0] if clicks else None
            target = self.world.choose(taste, daypart, last, rng)
            shown = rng.random() < PROFILE_SHOWN
            interest = self.world.names[taste.favourites()[0]] if shown else None
            answer = Behaviour(target.item, scene={"daypart": DAYPARTS[daypart]})
            row, _ = self.writer.row(_profile(interest), _behaviours([ad for ad, _ in clicks]),
                                     answer, counts=lambda _: True)
            rows.append(row)
        return rows


def _profile(interest: str | None) -> dict[str, str]:
    return {} if interest is None else {"interest": interest}


def _behaviours(ads: list[Ad]) -> list[Behaviour]:
    return [Behaviour(ad.item) for ad in ads]


def prompt_tokens(writer: PromptWriter, interest: str | None, ads: list[Ad],
                  daypart: str) -> list[int]:
    """The prompt of a user in a part of the day."""
    return writer.prompt(_profile(interest), {"daypart": daypart}, _behaviours(ads)).tokens


def demo_prompt(vocabulary: Vocabulary) -> dict[str, object]:
    """prompt.json: declared interest, clicks, part of the day."""
    scene = {"slot": "scene", "key": "daypart", "before": "<|daypart_", "after": "|>",
             "values": {name: name for name in DAYPARTS}, "default": "morning"}
    profile = {"slot": "profile", "key": "interest", "before": "<|interest_", "after": "|>",
               "values": {name: name for name in CATEGORIES}}
    prompt = prompt_document("demo", vocabulary.patterns, MAX_ITEMS, 3 * MAX_ITEMS + 3, [scene],
                             trim_step=MAX_ITEMS // 2)
    history = next(each for each in prompt["segments"] if each.get("slot") == "history")
    history["actions"] = ["click"]
    prompt["segments"].insert(1, profile)
    return prompt


def make_users(world: World, seed: int) -> list[DemoUser]:
    """The named users; their tastes and clicks are no part of the training rows."""
    rng = np.random.default_rng([seed, 1])
    users = []
    for number in range(1, USERS + 1):
        taste = world.taste(rng)
        interest = world.names[taste.favourites()[0]] if rng.random() < 0.5 else None
        clicks = world.history(taste, int(rng.integers(5, 25)), rng)
        users.append(DemoUser(str(number), taste, interest, clicks))
    return users


BID = {"attribute": "bid", "function": "log", "weight": 1}
PACED = {"bid": "bid", "pace": "advertiser"}
#: By likelihood times bid, and by chance of a click times bid, the bid as the pace of its
#: advertiser lowers it.
VALUATIONS = {
    "ecpm": {"score_weight": 1, "terms": [BID], **PACED},
    "expected": {"score_weight": 0,
                 "terms": [{"head": "click", "function": "log", "weight": 1}, BID], **PACED},
}


def write_users(users: list[DemoUser], path: Path) -> None:
    """users.json: behaviours with times that fit their part of the day."""
    document = {}
    for user in users:
        behaviours = []
        for day, (ad, daypart) in enumerate(user.clicks):
            hour = DAYPART_HOURS[DAYPARTS[daypart]]
            time = FIRST_DAY + day * DAY_SECONDS + hour * 3600 + 60 * (int(user.name) % 60)
            behaviours.append({"item_id": ad.item, "action": "click", "time": time})
        profile = {"interest": user.interest} if user.interest else {}
        document[user.name] = {"behaviours": behaviours, "profile": profile}
    write_json(path, document)


def run(args: argparse.Namespace) -> None:
    """Generates, trains, exports, prints the check table; or makes the heads alone."""
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    out = Path(args.out)
    world = World(args.seed)
    if not args.heads_only:
        write_model(args, world, out)
    write_json(out / "valuations.json", VALUATIONS)
    write_demo_ranking(world, out, args.seed)
    size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    print(f"{out}: {size / 2**20:.2f} MiB")


def write_model(args: argparse.Namespace, world: World, out: Path) -> None:
    """The model's folder, and the users."""
    users = make_users(world, args.seed)
    extra = [f"<|interest_{name}|>" for name in CATEGORIES]
    extra += [f"<|daypart_{name}|>" for name in DAYPARTS]
    vocabulary = build_vocabulary(world.index(), extra)
    trie = build_trie(world.index())
    model = build_model(SHAPE, vocabulary.size, 3 * MAX_ITEMS + 6,
                        *map(vocabulary.id_of, (BOS, EOS, PAD)))
    add_dropout(model, 0.05)
    print(f"{len(world.ads)} ads, {len(trie.leaf_items)} SIDs, {len(users)} users, "
          f"{count_parameters(model):,} parameters")
    tokenizer, template = tokenizer_of(vocabulary), parse_template(demo_prompt(vocabulary))
    writer = PromptWriter(template, tokenizer, items_of(world.index(), vocabulary, world.texts()))
    export_static(out, tokenizer, template.document, world.index(), world.texts(),
                  template.max_tokens)
    write_users(users, out / "users.json")
    validation = _validation(world, writer, args.seed)

    def validate(_seconds: float | None) -> dict[str, float]:
        ranks = item_ranks(model, *validation, trie, vocabulary, 20, "validation")
        return ranking_metrics(ranks)

    def keep(_progress: Progress) -> None:
        export_model(out, model, "bfloat16")

    plan = Plan(epochs=args.epochs, batch_size=48, lr=2e-3, seed=args.seed, validate_every=4)
    state = out / "training-state.pt"
    state.unlink(missing_ok=True)
    Training(model, DemoRows(world, writer), plan, state, "demo", validate, keep).run()
    state.unlink()
    print_check(model, world, users, trie, writer, vocabulary)


def _validation(world: World, writer: PromptWriter,
                seed: int) -> tuple[list[list[int]], list[str]]:
    rng = np.random.default_rng([seed, 2])
    prompts, targets = [], []
    for _ in range(500):
        taste = world.taste(rng)
        clicks = world.history(taste, int(rng.integers(5, MAX_ITEMS)), rng)
        daypart = int(rng.integers(len(DAYPARTS)))
        targets.append(world.choose(taste, daypart, clicks[-1][0], rng).item)
        prompts.append(prompt_tokens(writer, None, [ad for ad, _ in clicks],
                                     DAYPARTS[daypart]))
    return prompts, targets


def top_items(model, prompt: list[int], trie: SidTrie, vocabulary: Vocabulary,
              count: int) -> list[str]:
    """The first `count` items of a recall."""
    model.eval()
    leaves, _ = beam_search(model, torch.tensor([prompt]), trie, level_ids(vocabulary, trie), 50)
    return [item for leaf in leaves[0].tolist() for item in trie.leaf_items[leaf]][:count]


def print_check(model, world: World, users: list[DemoUser], trie: SidTrie,
                writer: PromptWriter, vocabulary: Vocabulary) -> None:
    """Share of the first ten in the favourite categories, against chance, by part of the day,
    and how much of the morning's ten each other part of the day keeps."""
    by_item = {ad.item: ad for ad in world.ads}
    morning: dict[str, set[str]] = {}
    print("daypart     in favourites   by chance   as in the morning   most recalled categories")
    for place, daypart in enumerate(DAYPARTS):
        hits, chance, kept, seen = [], [], [], np.zeros(len(world.names))
        for user in users:
            ads = [ad for ad, _ in user.clicks]
            prompt = prompt_tokens(writer, user.interest, ads, daypart)
            found = [by_item[item] for item in top_items(model, prompt, trie, vocabulary, 10)]
            liked = set(user.taste.favourites())
            hits.append(np.mean([ad.category in liked for ad in found]))
            chance.append(np.mean([ad.category in liked for ad in world.ads]))
            items = {ad.item for ad in found}
            kept.append(len(items & morning.setdefault(user.name, items)) / len(items))
            for ad in found:
                seen[ad.category] += 1
        first = ", ".join(f"{world.names[c]} {seen[c] / seen.sum():.0%}"
                          for c in np.argsort(-seen)[:3])
        print(f"{daypart:<12}{np.mean(hits):>12.1%}{np.mean(chance):>12.1%}"
              f"{np.mean(kept):>20.1%}   {first}")
