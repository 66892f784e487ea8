"""`python -m trainer train`: sequences and an index in, a served model folder out."""

import argparse
import json
import math
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from transformers import PreTrainedModel

from . import data
from .baselines import Seen, baseline_ranks
from .beam import CUTS, UNASKED, item_ranks, ranking_metrics
from .checkpoint import fingerprint, write_json
from .curves import Curves
from .devices import device_of, has_bf16
from .errors import InputError
from .export import export_model, export_static
from .flags import check_shape, writable_folder
from .held_out import Case, Split, sample, split
from .history import Users, answers_of, repeats
from .intervals import wilson
from .model import add_dropout, build_model, count_parameters, embed_codes, start_from
from .parallel import Processes, join, leave
from .prompts import Prompt, PromptItem, PromptWriter, anchor_of, items_of, read_tokenizer
from .semantic_ids.codebooks import copy_codebooks, read_codebooks
from .sequences import read_users
from .settings import Plan, Shape
from .tiger.imported import SEPARATOR, START
from .tiger.training import (LEAST_TOKENS, AnswerRows, EncoderDecoderTraining, build_t5,
                             check_t5_template, set_dropout, t5_template)
from .template import PROMPT_TOKENS_MAX, Template
from .tokens import (BOS, EOS, PAD, Vocabulary, build_vocabulary, extend_vocabulary,
                     tokenizer_of)
from .trained_template import (check_users, check_values, template_tokens, trained_template,
                               usual_items)
from .training import Progress, Training
from .trie import SidTrie, build_trie
from .user_rows import Augmentation, UserRows

RESUMABLE = "training-state.pt"
T5 = "t5"
#: Share of behaviours that repeat an item of their user from which on lists show such items again.
REPEATS_MIN = 0.01


@dataclass(frozen=True)
class Recalls:
    """Ranks of the targets of cases in what a model recalls."""

    writer: PromptWriter
    trie: SidTrie
    vocabulary: Vocabulary
    shows_again: bool  # what a user has had; left out of all lists otherwise

    def ranks(self, model, cases: list[Case], width: int, label: str,
              seconds: float | None = None, shown: set[str] | None = None) -> np.ndarray:
        """Of a case without a prompt -1: the service refuses it. The first ten items of each list
        come into `shown`."""
        prompts = [self.prompt(case).tokens for case in cases]
        # An encoder of no token has no output.
        least = LEAST_TOKENS if model.config.is_encoder_decoder else 1
        asked = [place for place, tokens in enumerate(prompts) if len(tokens) >= least]
        ranks = np.full(len(cases), -1)
        if asked:
            ranks[asked] = item_ranks(model, [prompts[place] for place in asked],
                                      [cases[place].target.item for place in asked],
                                      self.trie, self.vocabulary, width, label,
                                      [self.had(cases[place]) for place in asked], seconds,
                                      shown)
        return ranks

    def prompt(self, case: Case) -> Prompt:
        return self.writer.prompt(case.profile, case.target.scene, case.history)

    def had(self, case: Case) -> frozenset[str]:
        """Items of the whole history that are in no list."""
        return frozenset() if self.shows_again else frozenset(one.item for one in case.history)

    def seen(self, case: Case) -> Seen:
        """Items that the prompt shows, for callers that need no model."""
        places = sorted({shown.place for shown in self.prompt(case).shown})
        return Seen([case.history[place].item for place in places], case.target.item,
                    self.had(case))


def run(args: argparse.Namespace) -> int:
    """Trains, keeps the weights that are best on the validation, tests them, writes the folder; 1
    where the minutes were too few for a model."""
    processes = join(device_of(args.device))
    if args.autocast is None:
        args.autocast = has_bf16(processes.device)
    try:
        return _run(args, processes)
    finally:
        leave(processes)


def _run(args: argparse.Namespace, processes: Processes) -> int:
    started = time.monotonic()
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    check_shape(args.heads, args.kv_heads, args.head_dim, args.family == "qwen3_5")
    out = writable_folder(args.out)
    index = _index(args)
    users = read_users(Path(args.sequences), index)
    template, index = _template(args, index, users)
    texts = data.read_titles(Path(args.items)) if args.items else {}
    base = _base_tokenizer(args.start_from)
    vocabulary = _vocabulary(args, template, index, base)
    tokenizer = tokenizer_of(vocabulary, base)
    parts = split(users, args.split, args.split_share, args.answers)
    if not any(len(user.behaviours) > 1 for user in parts.trained.values()):
        raise InputError(args.sequences, "a user with two or more items to train on", "none")
    model = _model(args, vocabulary, template, index.depth)
    writer = _writer(template, tokenizer, items_of(index, vocabulary, texts), model, index)
    check_users(writer, users, args.sequences)
    check_values(writer, users, args.sequences)
    if args.codebooks:
        books = [torch.from_numpy(book) for book in read_codebooks(Path(args.codebooks)).levels]
        embed_codes(model, books, vocabulary.level_tokens)
    (set_dropout if args.family == T5 else add_dropout)(model, args.dropout)
    # Weights begin alike in all processes; what dropout takes differs.
    torch.manual_seed(args.seed + processes.number)
    trie = build_trie(index, {item: text.priority for item, text in texts.items()})
    recalls = Recalls(writer, trie, vocabulary, repeats(users) >= REPEATS_MIN)
    # Refuses a folder of another training, whose files are written over from here on.
    training = _training(args, model, parts, recalls, processes, out)
    if processes.is_first:
        behaviours = sum(len(user.behaviours) for user in parts.trained.values())
        print(f"{len(users)} users, {len(index.codes)} items, depth {index.depth}, "
              f"{vocabulary.size} tokens; {behaviours} behaviours to "
              f"train on, {len(parts.validation)} to validate, {len(parts.test)} to test\n"
              f"{count_parameters(model):,} parameters, {args.threads} threads, "
              f"{_products(args)}\n"
              f"prompts show {sum(of.max_items for of in template.histories)} items; "
              f"{repeats(users):.1%} of the behaviours repeat an item of their user")
        export_static(out, tokenizer, template.document, index, texts, writer.tokens_max)
        if args.codebooks:
            copy_codebooks(Path(args.codebooks), out)
    progress = training.run(time.monotonic() - started)
    if processes.is_first:
        if progress.curve:
            _test(args, model, parts, recalls, progress, out)
        print(progress.unfinished or
              f"done in {(time.monotonic() - started) / 60:.1f} min: {out}")
    return 1 if progress.unfinished else 0


def _template(args: argparse.Namespace, index: data.SidIndex,
              users: Users) -> tuple[Template, data.SidIndex]:
    if args.family != T5:
        return trained_template(args.prompt, args.start_from, args.max_items, index, users)
    if args.start_from:
        raise InputError("--family", "another than t5 beside --from (`import` serves one that is "
                         "trained)", T5)
    if not args.prompt:
        return t5_template(index.patterns, args.max_items or usual_items(users)), index
    template, index = trained_template(args.prompt, None, args.max_items, index, users)
    check_t5_template(template, args.prompt)
    return template, index


def _products(args: argparse.Namespace) -> str:
    """Type that products are computed in, as --autocast or the machine has it."""
    return "products in BF16" if args.autocast else "products in F32 (BF16 would be emulated here)"


def _base_tokenizer(folder: str | None) -> Tokenizer | None:
    if folder is None:
        return None
    try:
        return read_tokenizer(Path(folder))
    except InputError as error:
        raise InputError("--from", error.expected, error.got) from error


def _vocabulary(args: argparse.Namespace, template: Template, index: data.SidIndex,
                base: Tokenizer | None) -> Vocabulary:
    # A checkpoint knows its own template in its own tokens.
    extra = template_tokens(template) if args.prompt else []
    if args.family == T5:
        extra = [START, SEPARATOR, *extra]
    if base:
        return extend_vocabulary(base, index, extra)
    return build_vocabulary(index, extra)


def _model(args: argparse.Namespace, vocabulary: Vocabulary, template: Template,
           depth: int) -> PreTrainedModel:
    control = tuple(map(vocabulary.id_of, (BOS, EOS, PAD)))
    positions = template.max_tokens + depth
    if args.start_from:
        is_own = not args.prompt and (Path(args.start_from) / "prompt.json").exists()
        asked = 0 if is_own or template.max_tokens == PROMPT_TOKENS_MAX else positions
        return start_from(Path(args.start_from), vocabulary.size, asked, *control)
    shape = Shape(args.layers, args.hidden, args.heads, args.kv_heads, args.head_dim,
                  args.intermediate, args.tie_embeddings, args.family)
    if args.family == T5:
        start = vocabulary.id_of(START)
        return build_t5(shape, vocabulary.size, positions, start, *control[1:])
    return build_model(shape, vocabulary.size, positions, *control)


def _writer(template: Template, tokenizer: Tokenizer, items: dict[str, PromptItem],
            model: PreTrainedModel, index: data.SidIndex) -> PromptWriter:
    # The last token of an answer is computed with nothing behind it.
    positions = (model.config.n_positions if model.config.is_encoder_decoder
                 else model.config.max_position_embeddings)
    room = positions - index.depth + 1
    highest = max(sid[0] for sid in index.codes.values())
    return PromptWriter(template, tokenizer, items, room, anchor_of(template, tokenizer, highest))


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


def _training(args: argparse.Namespace, model, parts: Split, recalls: Recalls,
              processes: Processes, out: Path) -> Training:
    cases = sample(parts.validation, args.validate_users, args.seed)
    validate_every = args.validate_every if cases else args.epochs + 1

    def validate(seconds: float | None) -> dict[str, float]:
        nonlocal cases
        if not cases:
            return {"recall@10": 0.0}
        ranks = recalls.ranks(model, cases, args.validate_beam, "validation", seconds)
        # Those that the first had no time for are in none.
        cases = [case for case, rank in zip(cases, ranks, strict=True) if rank != UNASKED]
        return ranking_metrics(ranks[ranks != UNASKED])

    def keep(progress: Progress) -> None:
        export_model(out, model, args.dtype)
        _write_record(args, model, progress, recalls, {}, out)

    augmentation = Augmentation(args.drop_items, args.shuffle, args.shuffled_share)
    kind, training = ((AnswerRows, EncoderDecoderTraining) if args.family == T5
                      else (UserRows, Training))
    rows = kind(parts.trained, recalls.writer, answers_of(args.answers), augmentation)
    plan = Plan(**{**asdict(_plan(args)), "validate_every": validate_every})
    free = ("out", "threads", "run", "command", "items", "minutes", "device", "autocast")
    settings = {name: value for name, value in vars(args).items() if name not in free}
    settings["template"] = recalls.writer.template.document
    if recalls.writer.template.uses_domains:
        settings["domains"] = {name: item.domain for name, item in recalls.writer.items.items()}
    mark = fingerprint(settings, [Path(args.sequences), Path(args.index)])

    def doubt(recall: float) -> float:
        return math.sqrt(recall * (1 - recall) / max(1, len(cases)))

    return training(model, rows, plan, out / RESUMABLE, mark, validate, keep, processes,
                    doubt, Curves(out))


def _test(args: argparse.Namespace, model, parts: Split, recalls: Recalls,
          progress: Progress, out: Path) -> None:
    """Of the best weights, beside what needs no model; the test has chosen nothing."""
    best = {name: value.float() for name, value in load_file(out / "model.safetensors").items()}
    model.load_state_dict(best, strict=False)
    metrics: dict[str, dict[str, float]] = {}
    cases = sample(parts.test, args.test_users or len(parts.test), args.seed)
    if cases:
        trained = {name: user.items for name, user in parts.trained.items()}
        left = max(0.0, 60 * args.minutes - progress.seconds) if args.minutes else None
        shown: set[str] = set()
        mine = recalls.ranks(model, cases, args.beam, "test", left, shown)
        asked = [case for case, rank in zip(cases, mine, strict=True) if rank != UNASKED]
        ranks = {"model": mine[mine != UNASKED],
                 **baseline_ranks(trained, [recalls.seen(case) for case in asked])}
        metrics = {name: ranking_metrics(found, CUTS) for name, found in ranks.items()}
        known = {item for items in trained.values() for item in items}
        cold = np.array([case.target.item not in known for case in asked])
        metrics["model"] |= breadth(ranks["model"], cold, len(shown) / len(recalls.writer.items))
        cut = f" of {len(cases)}, as many as the minutes allow" if len(asked) < len(cases) else ""
        had = "with" if recalls.shows_again else "without"
        print(f"test: {len(asked)} behaviours held out{cut}, beam {args.beam}, lists {had} what "
              f"the user had in the whole history\n{_table(metrics)}\n"
              f"{describe_breadth(metrics['model'])}{below_baselines(metrics)}")
    _write_record(args, model, progress, recalls, metrics, out)


def breadth(ranks: np.ndarray, cold: np.ndarray, coverage: float) -> dict[str, float]:
    """Beside Recall and NDCG of a model: the 95 % interval of its recall@10 (Wilson 1927), the
    share of the items that are in a first ten, and the recall of `cold` cases, whose target nothing
    was trained on."""
    hits = (ranks >= 0) & (ranks < 10)
    low, _, high = wilson(int(hits.sum()), len(hits))
    return {"recall@10 low": low, "recall@10 high": high, "coverage@10": coverage,
            "cold cases": int(cold.sum()),
            "cold recall@10": float(hits[cold].mean()) if cold.any() else 0.0}


def describe_breadth(found: dict[str, float]) -> str:
    return (f"recall@10 of the model with 95 %: {found['recall@10 low']:.4f} to "
            f"{found['recall@10 high']:.4f}; {found['coverage@10']:.1%} of the items are in a "
            f"first ten; {found['cold cases']:.0f} cases of items that nothing was trained on: "
            f"{found['cold recall@10']:.4f}")


def below_baselines(metrics: dict[str, dict[str, float]]) -> str:
    """A line where the model finds less than what needs no model; '' elsewhere."""
    mine = metrics["model"]["recall@10"]
    better = [f"{name} ({found['recall@10']:.4f})" for name, found in metrics.items()
              if name != "model" and found["recall@10"] > mine]
    if not better:
        return ""
    return (f"\nwarning: recall@10 of the model ({mine:.4f}) is below that of "
            f"{' and '.join(better)}: it should not serve yet. More --minutes, more clicks, or "
            "semantic IDs of an encoder's vectors (`quickstart --encoder DIR`) help")


def _table(metrics: dict[str, dict[str, float]]) -> str:
    names = [f"{kind}@{cut}" for kind in ("recall", "ndcg") for cut in CUTS]
    lines = [" " * 12 + "".join(f"{name:>11}" for name in names)]
    for row, found in metrics.items():
        lines.append(f"{row:<12}" + "".join(f"{found[name]:>11.4f}" for name in names))
    return "\n".join(lines)


def _write_record(args: argparse.Namespace, model, progress: Progress, recalls: Recalls,
                  metrics: dict[str, dict[str, float]], out: Path) -> None:
    arguments = {name: value for name, value in vars(args).items()
                 if name not in ("run", "command", "out", "threads", "device")}
    for name in ("sequences", "index", "items", "codebooks", "start_from", "prompt"):
        arguments[name] = Path(arguments[name]).name if arguments[name] else None
    write_json(out / "training.json", {
        "arguments": json.loads(json.dumps(arguments)), "parameters": count_parameters(model),
        "products": _products(args), "shows_again": recalls.shows_again,
        "seconds": round(progress.seconds, 1), "epochs": progress.epoch,
        "unfinished": progress.unfinished,
        "curve": progress.curve, "test": metrics})
