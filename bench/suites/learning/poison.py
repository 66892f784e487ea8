"""Streams with bots: how often other users are recommended the bots' item by a version that learned
from such a stream, over the same without bots; and the alarms.

    python bench/suites/learning/poison.py --seeds 20

Prints JSON: of each kind of bot the ratio of mean shares, of each seed too, and alarms by seed.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT))

from trainer.beam import beam_search  # noqa: E402
from trainer.demo_world import DAYPARTS, World  # noqa: E402
from trainer.follow.gateway import LiveItem  # noqa: E402
from trainer.follow.guards import Limits, choose  # noqa: E402
from trainer.follow.learner import Learner, Plan  # noqa: E402
from trainer.follow.samples import Sampling, to_learn  # noqa: E402
from trainer.follow.store import Cycle, Fact, Recall, Store  # noqa: E402
from trainer.history import Behaviour  # noqa: E402
from trainer.trie import build_trie  # noqa: E402

MODEL = ROOT / "models" / "demo"
SHOWN = 10
#: By name: bots, and their share of all events.
KINDS = {"one bot, half of the events": (1, 0.5), "one bot, a tenth": (1, 0.1),
         "15 bots, half of the events": (15, 0.5), "200 bots, half of the events": (200, 0.5)}
BEGIN_MS = 1_800_000_000_000


class Streams:
    """Users of one seed, what they are shown and click, and bots among them."""

    def __init__(self, world: World, seed: int, users: int, visits: int) -> None:
        self.world, self.rng = world, np.random.default_rng(seed)
        self.tastes = [world.taste(self.rng) for _ in range(users)]
        self.clean = [self._visit(number) for number in range(visits)]
        liked = {item for _, recall in self.clean for item in recall.items}
        names = sorted(liked, key=int)
        self.item = names[int(self.rng.integers(len(names)))]

    def _visit(self, number: int) -> tuple[list[Fact], Recall]:
        user, daypart = int(self.rng.integers(len(self.tastes))), int(self.rng.integers(4))
        taste = self.tastes[user]
        shown = list(dict.fromkeys(
            self.world.choose(taste, daypart, None, self.rng).item if self.rng.random() < 0.7
            else self.world.ads[int(self.rng.integers(len(self.world.ads)))].item
            for _ in range(SHOWN)))
        wanted = self.world.choose(taste, daypart, None, self.rng)
        of_topic = {ad.item for ad in self.world.by_topic[wanted.category, wanted.topic]}
        scene = json.dumps({"daypart": DAYPARTS[daypart]})
        at, request = BEGIN_MS + 1000 * number, f"r{number}"
        clicked = [item for item in shown if item in of_topic][:1]
        return ([Fact(f"u{user}", item, at + 1, "click", request, shown.index(item) + 1, scene)
                 for item in clicked], Recall(f"u{user}", request, at, shown, scene))

    def with_bots(self, bots: int, share: float) -> list[tuple[list[Fact], Recall]]:
        """Bots say that they were shown their item among others, and clicked it."""
        rng = np.random.default_rng(len(self.clean))
        clicks = sum(len(facts) for facts, _ in self.clean)
        count = round(clicks * share / (1 - share))
        more = []
        for number in range(count):
            at = BEGIN_MS + int(rng.integers(1000 * len(self.clean)))
            user, request = f"bot{number % bots}", f"b{number}"
            others = [self.world.ads[int(one)].item
                      for one in rng.choice(len(self.world.ads), SHOWN, replace=False)]
            items = list(dict.fromkeys([self.item, *others]))[:SHOWN]
            more.append(([Fact(user, self.item, at + 1, "click", request, 1)],
                         Recall(user, request, at, items)))
        return sorted(self.clean + more, key=lambda one: one[1].time_ms)


class Trial:
    def __init__(self, threads: int) -> None:
        torch.set_num_threads(threads)
        self.world = World(7)
        self.trie = build_trie(self.world.index())
        self.live = {ad.item: LiveItem(tuple(ad.sid)) for ad in self.world.ads}
        self.learner = Learner(MODEL, Plan())
        self.learner.use_items(self.live)
        writer = self.learner.writer
        self.ids = []
        for level, size in enumerate(self.trie.sizes):
            form = str(writer.template.levels[level])
            found = [writer.tokenizer.token_to_id(form.replace("{code}", str(code)))
                     for code in range(size)]
            self.ids.append(torch.tensor([token or 0 for token in found]))

    def learn(self, visits: list[tuple[list[Fact], Recall]], folder: Path, seed: int
              ) -> tuple[Path, dict[str, str]]:
        """A version that learned from a stream, and alarms."""
        store = Store(folder)
        limits = Limits()
        store.add([fact for facts, _ in visits for fact in facts],
                  [recall for _, recall in visits], "stream", 0)
        upto, shown_upto = store.newest()
        rows = store.rows(0, upto, ["click"])
        choice = choose(rows, [], self.live, limits, seed)
        cycle: Cycle = store.begin(
            {"base": "", "parent": "", "after": 0, "upto": upto, "shown_after": 0,
             "shown_upto": shown_upto, "seed": seed, "begun_ms": 0, "learned_until_ms": 0},
            {"bots": choice.bots, "shares": choice.shares, "since_ms": choice.since_ms},
            choice.new, [])
        samples = to_learn(store, cycle, ["click"], limits, Sampling())
        self.learner.train(None, samples, seed, folder / "version")
        store.close()
        return folder / "version", choice.alarms

    @torch.inference_mode()
    def share(self, version: Path, streams: Streams, users: int) -> float:
        """Of the recommended items of users who are no bots: the bots' item."""
        model = self.learner.open(version)
        rng = np.random.default_rng(1)
        hits = total = 0
        for daypart in DAYPARTS:
            prompts = []
            for _ in range(users // len(DAYPARTS)):
                taste = streams.tastes[int(rng.integers(len(streams.tastes)))]
                clicks = self.world.history(taste, 5, rng)
                history = [Behaviour(ad.item, 1.0, "click") for ad, _ in clicks]
                prompts.append(self.learner.writer.prompt({}, {"daypart": daypart}, history).tokens)
            leaves, _ = beam_search(model, torch.tensor(prompts), self.trie, self.ids, 20)
            for row in leaves.tolist():
                items = [item for leaf in row if leaf >= 0
                         for item in self.trie.leaf_items[leaf]][:SHOWN]
                hits += streams.item in items
                total += len(items)
        return hits / total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--users", type=int, default=150)
    parser.add_argument("--visits", type=int, default=1200)
    parser.add_argument("--asked", type=int, default=200, help="recalls of a version")
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    trial = Trial(args.threads)
    shares: dict[str, list[float]] = {name: [] for name in ("clean", *KINDS)}
    alarms: dict[str, list[list[str]]] = {name: [] for name in ("clean", *KINDS)}
    for seed in range(args.seeds):
        streams = Streams(trial.world, seed, args.users, args.visits)
        for name in shares:
            visits = streams.clean if name == "clean" else streams.with_bots(*KINDS[name])
            with tempfile.TemporaryDirectory() as folder:
                version, named = trial.learn(visits, Path(folder), seed)
                shares[name].append(trial.share(version, streams, args.asked))
                alarms[name].append(sorted(named))
        print(f"seed {seed}: item {streams.item}, " + ", ".join(
            f"{name} {100 * found[-1]:.2f} % {'alarm' if alarms[name][-1] else ''}"
            for name, found in shares.items()), file=sys.stderr, flush=True)
    clean = np.array(shares["clean"])
    report = {name: {
        "ratio": float(np.mean(found) / clean.mean()) if clean.mean() > 0 else None,
        "shares": found, "seeds_with_alarm": sum(bool(one) for one in alarms[name]),
        "alarms": alarms[name][0],
        "above_without_alarm": int(sum(share > 1.1 * usual and not named for share, usual, named in
                                   zip(found, clean, alarms[name], strict=True))),
    } for name, found in shares.items()}
    print(json.dumps({"seeds": args.seeds, "kinds": report}, indent=2))


if __name__ == "__main__":
    main()
