"""`python -m trainer train`: sequences and an index in, a served model folder out."""

import argparse
import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file

from . import data
from .beam import item_ranks, ranking_metrics
from .checkpoint import fingerprint, write_json
from .errors import InputError
from .export import export_model, export_static, prompt_document
from .flags import check_shape, writable_folder
from .model import add_dropout, build_model, count_parameters
from .samples import Augmentation, SequenceRows
from .settings import Plan, Shape
from .tokens import BOS, EOS, PAD, Vocabulary, build_vocabulary
from .training import Progress, Training
from .trie import SidTrie, build_trie

RESUMABLE = "training-state.pt"


@dataclass(frozen=True)
class HeldOut:
    """Validation prompts (token ids) and the item that each should find."""

    prompts: list[list[int]]
    targets: list[str]

    def sample(self, count: int, seed: int) -> "HeldOut":
        if count >= len(self.prompts):
            return self
        places = np.random.default_rng(seed).choice(len(self.prompts), count, replace=False)
        return HeldOut([self.prompts[p] for p in places], [self.targets[p] for p in places])


def split(sequences: dict[str, list[str]], hold_out: bool, max_items: int,
          index: data.SidIndex, vocabulary: Vocabulary) -> tuple[list[list[list[int]]], HeldOut]:
    """Training sequences as item tokens, and the held-out last items of all users.

    A sequence of one item has nothing before its last item and is only trained on when
    nothing is held out.
    """
    bos = vocabulary.id_of(BOS)
    tokens = {item: vocabulary.item_tokens(sid) for item, sid in index.codes.items()}
    trained, prompts, targets = [], [], []
    for items in sequences.values():
        visible = items[:-1] if hold_out else items
        trained.append([tokens[item] for item in visible])
        if hold_out and visible:
            history = visible[-max_items:]
            prompts.append([bos] + [token for item in history for token in tokens[item]])
            targets.append(items[-1])
    return trained, HeldOut(prompts, targets)


def run(args: argparse.Namespace) -> None:
    """Trains, keeps the best weights, measures all users, writes the folder."""
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    check_shape(args.heads, args.kv_heads, args.head_dim)
    out = writable_folder(args.out)
    index = data.read_index(Path(args.index))
    sequences = data.read_sequences(Path(args.sequences), index)
    texts = data.read_titles(Path(args.items)) if args.items else {}
    vocabulary, trie = build_vocabulary(index), build_trie(index)
    trained, held_out = split(sequences, args.hold_out_last, args.max_items, index, vocabulary)
    if not any(len(sequence) > 1 for sequence in trained):
        raise InputError(args.sequences, "a user with two or more items to train on", "none")
    print(f"{len(sequences)} users, {len(index.codes)} items, depth {index.depth}, "
          f"{vocabulary.size} tokens, {len(held_out.prompts)} held-out items")
    shape = Shape(args.layers, args.hidden, args.heads, args.kv_heads, args.head_dim,
                  args.intermediate, args.tie_embeddings)
    positions = (args.max_items + 1) * index.depth + 1
    model = build_model(shape, vocabulary.size, positions, *map(vocabulary.id_of, (BOS, EOS, PAD)))
    add_dropout(model, args.dropout)
    print(f"{count_parameters(model):,} parameters, {args.threads} threads")
    prompt = prompt_document("sequence", vocabulary, args.max_items,
                             args.max_items * index.depth + 1)
    export_static(out, vocabulary, prompt, index, texts)
    started = time.monotonic()
    progress = _train(args, model, trained, held_out, trie, vocabulary, out)
    _finish(args, model, held_out, trie, vocabulary, progress, out)
    print(f"done in {(time.monotonic() - started) / 60:.1f} min: {out}")


def _plan(args: argparse.Namespace) -> Plan:
    names = Plan.__dataclass_fields__
    return Plan(**{name: getattr(args, name) for name in names if hasattr(args, name)})


def _train(args: argparse.Namespace, model, trained: list[list[list[int]]], held_out: HeldOut,
           trie: SidTrie, vocabulary: Vocabulary, out: Path) -> Progress:
    sample = held_out.sample(args.validate_users, args.seed)
    validate_every = args.validate_every if sample.prompts else args.epochs + 1

    def validate() -> dict[str, float]:
        if not sample.prompts:
            return {"recall@10": 0.0}
        ranks = item_ranks(model, sample.prompts, sample.targets, trie, vocabulary,
                           args.validate_beam, "validation")
        return ranking_metrics(ranks)

    def keep(progress: Progress) -> None:
        export_model(out, model, args.dtype)
        _write_record(args, model, progress, {}, out)

    augmentation = Augmentation(args.drop_items, args.shuffle, args.shuffled_share)
    rows = SequenceRows(trained, vocabulary.id_of(BOS), args.max_items, augmentation)
    plan = Plan(**{**asdict(_plan(args)), "validate_every": validate_every})
    free = ("out", "threads", "run", "command", "items", "minutes")
    settings = {name: value for name, value in vars(args).items() if name not in free}
    mark = fingerprint(settings, [Path(args.sequences), Path(args.index)])
    return Training(model, rows, plan, out / RESUMABLE, mark, validate, keep).run()


def _finish(args: argparse.Namespace, model, held_out: HeldOut, trie: SidTrie,
            vocabulary: Vocabulary, progress: Progress, out: Path) -> None:
    best = {name: value.float() for name, value in load_file(out / "model.safetensors").items()}
    model.load_state_dict(best, strict=False)
    metrics: dict[str, float] = {}
    if held_out.prompts:
        ranks = item_ranks(model, held_out.prompts, held_out.targets, trie, vocabulary,
                           args.beam, "all users")
        metrics = ranking_metrics(ranks)
        print(f"all {len(held_out.prompts)} users, beam {args.beam}: " + "  ".join(
            f"{name} {value:.4f}" for name, value in metrics.items()))
    _write_record(args, model, progress, metrics, out)


def _write_record(args: argparse.Namespace, model, progress: Progress,
                  metrics: dict[str, float], out: Path) -> None:
    arguments = {name: value for name, value in vars(args).items()
                 if name not in ("run", "command", "out", "threads")}
    for name in ("sequences", "index", "items"):
        arguments[name] = Path(arguments[name]).name if arguments[name] else None
    write_json(out / "training.json", {
        "arguments": json.loads(json.dumps(arguments)), "parameters": count_parameters(model),
        "seconds": round(progress.seconds, 1), "epochs": progress.epoch,
        "curve": progress.curve, "validation": metrics})
