"""`python -m trainer train`: sequences and an index in, a served model folder out."""

import argparse
import json
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from transformers import PreTrainedModel

from . import data
from .baselines import baseline_ranks
from .beam import CUTS, item_ranks, ranking_metrics
from .checkpoint import fingerprint, write_json
from .devices import device_of
from .errors import InputError
from .export import export_model, export_static, prompt_document
from .flags import check_shape, writable_folder
from .held_out import Case, Split, sample, split
from .model import add_dropout, build_model, count_parameters, embed_codes, start_from
from .parallel import Processes, join, leave
from .prompts import check_trained_template
from .samples import Augmentation, SequenceRows
from .semantic_ids.codebooks import copy_codebooks, read_codebooks
from .settings import Plan, Shape
from .tokens import BOS, EOS, PAD, Vocabulary, build_vocabulary, extend_vocabulary
from .training import Progress, Training
from .trie import SidTrie, build_trie

RESUMABLE = "training-state.pt"


class Prompts:
    """Cases as the model sees them: token ids of at most `max_items` items behind `<|bos|>`."""

    def __init__(self, index: data.SidIndex, vocabulary: Vocabulary, max_items: int) -> None:
        self.bos = vocabulary.id_of(BOS)
        self.tokens = {item: vocabulary.item_tokens(sid) for item, sid in index.codes.items()}
        self.max_items = max_items

    def of(self, case: Case) -> list[int]:
        shown = case.history[-self.max_items:]
        return [self.bos] + [token for item in shown for token in self.tokens[item]]

    def trained(self, sequences: dict[str, list[str]]) -> list[list[list[int]]]:
        return [[self.tokens[item] for item in items] for items in sequences.values()]


@dataclass(frozen=True)
class Recalls:
    """Ranks of the targets of cases in what a model recalls."""

    prompts: Prompts
    trie: SidTrie
    vocabulary: Vocabulary

    def ranks(self, model, cases: list[Case], width: int, label: str) -> np.ndarray:
        rows = [self.prompts.of(case) for case in cases]
        targets = [case.target for case in cases]
        return item_ranks(model, rows, targets, self.trie, self.vocabulary, width, label)


def run(args: argparse.Namespace) -> None:
    """Trains, keeps the weights that are best on the validation, tests them, writes the folder."""
    processes = join(device_of(args.device))
    try:
        _run(args, processes)
    finally:
        leave(processes)


def _run(args: argparse.Namespace, processes: Processes) -> None:
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    check_shape(args.heads, args.kv_heads, args.head_dim)
    out = writable_folder(args.out)
    index = _index(args)
    sequences, times = data.read_timed_sequences(Path(args.sequences), index)
    texts = data.read_titles(Path(args.items)) if args.items else {}
    base = _base_tokenizer(args.start_from)
    vocabulary = extend_vocabulary(base, index) if base else build_vocabulary(index)
    trie = build_trie(index, {item: text.priority for item, text in texts.items()})
    parts = split(sequences, times, args.split, args.split_share)
    if not any(len(items) > 1 for items in parts.trained.values()):
        raise InputError(args.sequences, "a user with two or more items to train on", "none")
    model = _model(args, vocabulary, (args.max_items + 1) * index.depth + 1)
    if args.codebooks:
        books = [torch.from_numpy(book) for book in read_codebooks(Path(args.codebooks)).levels]
        embed_codes(model, books, vocabulary.level_tokens)
    add_dropout(model, args.dropout)
    # Weights begin alike in all processes; what dropout takes differs.
    torch.manual_seed(args.seed + processes.number)
    recalls = Recalls(Prompts(index, vocabulary, args.max_items), trie, vocabulary)
    if processes.is_first:
        print(f"{len(sequences)} users, {len(index.codes)} items, depth {index.depth}, "
              f"{vocabulary.size} tokens; {sum(map(len, parts.trained.values()))} behaviours to "
              f"train on, {len(parts.validation)} to validate, {len(parts.test)} to test\n"
              f"{count_parameters(model):,} parameters, {args.threads} threads")
        prompt = prompt_document("sequence", vocabulary, args.max_items,
                                 args.max_items * index.depth + 1)
        export_static(out, vocabulary, prompt, index, texts, base)
        if args.codebooks:
            copy_codebooks(Path(args.codebooks), out)
    started = time.monotonic()
    progress = _train(args, model, parts, recalls, processes, out)
    if processes.is_first:
        _test(args, model, parts, recalls, progress, out)
        print(f"done in {(time.monotonic() - started) / 60:.1f} min: {out}")


def _base_tokenizer(folder: str | None) -> Tokenizer | None:
    if folder is None:
        return None
    check_trained_template(Path(folder))
    try:
        return Tokenizer.from_file(str(Path(folder) / "tokenizer.json"))
    except Exception as error:  # whatever the library raises
        raise InputError("--from", "a folder with tokenizer.json", str(error)) from error


def _model(args: argparse.Namespace, vocabulary: Vocabulary, positions: int) -> PreTrainedModel:
    control = tuple(map(vocabulary.id_of, (BOS, EOS, PAD)))
    if args.start_from:
        return start_from(Path(args.start_from), vocabulary.size, positions, *control)
    shape = Shape(args.layers, args.hidden, args.heads, args.kv_heads, args.head_dim,
                  args.intermediate, args.tie_embeddings)
    return build_model(shape, vocabulary.size, positions, *control)


def _index(args: argparse.Namespace) -> data.SidIndex:
    index = data.read_index(Path(args.index))
    if not args.codebooks:
        return index
    sizes = tuple(map(len, read_codebooks(Path(args.codebooks)).levels))
    if index.from_tokens or len(sizes) != index.depth:
        got = "tokens" if index.from_tokens else f"depth {index.depth}"
        raise InputError(args.index, f"integer codes of {len(sizes)} levels, as --codebooks has",
                         got)
    return replace(index, codebook_sizes=sizes)


def _plan(args: argparse.Namespace) -> Plan:
    names = Plan.__dataclass_fields__
    return Plan(**{name: getattr(args, name) for name in names if hasattr(args, name)})


def _train(args: argparse.Namespace, model, parts: Split, recalls: Recalls,
           processes: Processes, out: Path) -> Progress:
    cases = sample(parts.validation, args.validate_users, args.seed)
    validate_every = args.validate_every if cases else args.epochs + 1

    def validate() -> dict[str, float]:
        if not cases:
            return {"recall@10": 0.0}
        return ranking_metrics(recalls.ranks(model, cases, args.validate_beam, "validation"))

    def keep(progress: Progress) -> None:
        export_model(out, model, args.dtype)
        _write_record(args, model, progress, {}, out)

    augmentation = Augmentation(args.drop_items, args.shuffle, args.shuffled_share)
    rows = SequenceRows(recalls.prompts.trained(parts.trained), recalls.prompts.bos,
                        args.max_items, augmentation)
    plan = Plan(**{**asdict(_plan(args)), "validate_every": validate_every})
    free = ("out", "threads", "run", "command", "items", "minutes", "device")
    settings = {name: value for name, value in vars(args).items() if name not in free}
    mark = fingerprint(settings, [Path(args.sequences), Path(args.index)])
    return Training(model, rows, plan, out / RESUMABLE, mark, validate, keep, processes).run()


def _test(args: argparse.Namespace, model, parts: Split, recalls: Recalls,
          progress: Progress, out: Path) -> None:
    """Of the best weights, beside what needs no model; the test has chosen nothing."""
    best = {name: value.float() for name, value in load_file(out / "model.safetensors").items()}
    model.load_state_dict(best, strict=False)
    metrics: dict[str, dict[str, float]] = {}
    cases = sample(parts.test, args.test_users or len(parts.test), args.seed)
    if cases:
        seen = [Case(case.history[-args.max_items:], case.target) for case in cases]
        ranks = {"model": recalls.ranks(model, cases, args.beam, "test"),
                 **baseline_ranks(parts.trained, seen)}
        metrics = {name: ranking_metrics(found, CUTS) for name, found in ranks.items()}
        print(f"test: {len(cases)} behaviours held out, beam {args.beam}\n{_table(metrics)}")
    _write_record(args, model, progress, metrics, out)


def _table(metrics: dict[str, dict[str, float]]) -> str:
    names = [f"{kind}@{cut}" for kind in ("recall", "ndcg") for cut in CUTS]
    lines = [" " * 12 + "".join(f"{name:>11}" for name in names)]
    for row, found in metrics.items():
        lines.append(f"{row:<12}" + "".join(f"{found[name]:>11.4f}" for name in names))
    return "\n".join(lines)


def _write_record(args: argparse.Namespace, model, progress: Progress,
                  metrics: dict[str, dict[str, float]], out: Path) -> None:
    arguments = {name: value for name, value in vars(args).items()
                 if name not in ("run", "command", "out", "threads", "device")}
    for name in ("sequences", "index", "items", "codebooks", "start_from"):
        arguments[name] = Path(arguments[name]).name if arguments[name] else None
    write_json(out / "training.json", {
        "arguments": json.loads(json.dumps(arguments)), "parameters": count_parameters(model),
        "seconds": round(progress.seconds, 1), "epochs": progress.epoch,
        "curve": progress.curve, "test": metrics})
