"""`python -m trainer sids`: texts or vectors of items in, codebooks and semantic IDs out."""

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from ..arrays import read_array
from ..checkpoint import fingerprint, write_json
from ..data import read_titles
from ..errors import InputError
from ..flags import writable_folder
from . import rqkmeans, rqvae
from .codebooks import FILE, Codebooks
from .encoder import read_encoder
from .item_texts import texts_of
from .placement import place
from .replaced import replaced
from .report import report
from .settings import CODES_MAX, QuantiserPlan, codes_for
from .text_embedding import NUMBERS_FILE, WORDS_FILE, fit

STATE = "sids-state.pt"
INDEX, REPORT = "index.json", "report.json"
MAX_CODES = 65_536
#: Below this share of items with nearest codes of their own, SIDs say too little.
DISTINCT_MIN = 0.7
#: As the service bounds vectors.
MEMBER_MAX = 1e15

#: Writes into a folder how new texts become vectors, where that is known.
Note = Callable[[Path], None]


def run(args: argparse.Namespace) -> None:
    """Writes codebooks.safetensors, index.json, report.json and, of texts, how to embed a text."""
    torch.set_num_threads(args.threads)
    out = writable_folder(args.out)
    started = time.monotonic()
    names = QuantiserPlan.__dataclass_fields__
    if args.codes and args.codes > MAX_CODES:
        raise InputError("--codes", f"at most {MAX_CODES}", args.codes)
    if not args.items and not args.embeddings:
        raise InputError("--items", "a file of items, or --embeddings", None)
    items, vectors, note = _of_file(args) if args.embeddings else _of_texts(args)
    if args.codes is None:
        args.codes = codes_for(len(items), args.levels, args.capacity)
        if args.codes < CODES_MAX:
            print(f"{len(items)} items: {args.codes} codes a level")
    plan = QuantiserPlan(**{name: getattr(args, name) for name in names if hasattr(args, name)})
    source = Path(args.embeddings or args.items)
    settings = {**vars(plan), "method": args.method, "columns": args.columns,
                "dimension": args.dimension}
    mark = fingerprint(settings, [source])
    state_file = out / STATE
    if not args.resume:
        state_file.unlink(missing_ok=True)
    layers: list = []
    if args.method == "rqkmeans":
        levels = rqkmeans.train(vectors, plan, state_file, mark)
    else:
        levels, layers = rqvae.train(vectors, plan, state_file, mark)
    codebooks = Codebooks(levels, args.capacity, layers)
    if codebooks.not_finite() or not np.isfinite(codebooks.encoded(vectors)).all():
        rqvae.refuse_rate(plan, state_file)
    _write(out, codebooks, items, vectors, note, args, time.monotonic() - started)
    state_file.unlink(missing_ok=True)


def _write(out: Path, codebooks: Codebooks, items: list[str], vectors: np.ndarray, note: Note,
           args: argparse.Namespace, seconds: float) -> None:
    codes, residual = codebooks.encode(vectors)
    placed = place(codebooks, vectors, codes)
    found = report(codebooks, vectors, codes, residual, placed, args.seed)
    with replaced(out, (NUMBERS_FILE, WORDS_FILE, INDEX, REPORT, FILE)) as folder:
        note(folder)
        digest = codebooks.write(folder)
        write_json(folder / INDEX, {item: list(sid) for item, sid in zip(items, placed)})
        write_json(folder / REPORT, {
            "codebooks": digest, "method": args.method, "seed": args.seed,
            "capacity": args.capacity, "seconds": round(seconds, 1), **found})
    shares = found["unique_share"]
    prefixes = "  ".join(f"{share:.3f}" for share in found["neighbours_with_prefix"])
    print(f"{len(items)} items, {vectors.shape[1]} dimensions, {args.method}: "
          f"relative error {found['relative_error']:.4f}\n"
          f"distinct SIDs {shares['nearest']:.4f} of the items by nearest codes, "
          f"{shares['placed']:.4f} as placed; {found['moved_items']} items moved\n"
          f"nearest neighbours with the same first 1, 2, .. codes: {prefixes} (by chance "
          f"{1 / len(codebooks.levels[0]):.3f} with the first: ten times that and more is good, as "
          f"is distinct of {DISTINCT_MIN} or more by nearest codes)"
          f"{_warning(found, args)}\n"
          f"codebooks {digest}\n{out}: {FILE}, {INDEX}, {REPORT}")


def _warning(found: dict, args: argparse.Namespace) -> str:
    """A line where too many items share their nearest codes; '' elsewhere."""
    share = found["unique_share"]["nearest"]
    if share >= DISTINCT_MIN:
        return ""
    alike = found["items"] - found["distinct_vectors"]
    remedy = ("titles that tell them apart" if alike > found["items"] * (1 - DISTINCT_MIN)
              else "more --codes or --levels" if args.embeddings
              else "vectors of an encoder (`quickstart --encoder DIR`), or more --codes")
    return (f"\nwarning: {share:.2f} of the items have a SID of their own by nearest codes, "
            f"{alike} have the vector of another: the others took what was left. Better: {remedy}")


def _of_texts(args: argparse.Namespace) -> tuple[list[str], np.ndarray, Note]:
    if args.encoder:
        raise InputError("--encoder", "--embeddings beside it", None)
    texts = texts_of(args.items, args.columns)
    embedding = fit(list(texts.values()), args.dimension, args.seed)
    vectors = embedding.embed(list(texts.values()))
    wordless = int((vectors == 0).all(1).sum())
    print(f"{len(texts)} texts, {len(embedding.words)} words, {wordless} texts without one of them")
    return list(texts), vectors, embedding.write


def _of_file(args: argparse.Namespace) -> tuple[list[str], np.ndarray, Note]:
    vectors = read_array(Path(args.embeddings))
    if vectors.ndim != 2 or len(vectors) < 2 or vectors.shape[1] < 1:
        raise InputError(args.embeddings, "vectors (items, dimension) of two items or more",
                         vectors.shape)
    if vectors.dtype.kind != "f":
        raise InputError(args.embeddings, "floating-point numbers", str(vectors.dtype))
    vectors = vectors.astype(np.float32)
    bad = np.flatnonzero(~np.isfinite(vectors).all(1))
    if len(bad):
        raise InputError(f"{args.embeddings} row {bad[0]}", "finite numbers", vectors[bad[0]])
    if np.abs(vectors).max() > MEMBER_MAX:
        raise InputError(args.embeddings, f"numbers of at most {MEMBER_MAX:g}",
                         float(np.abs(vectors).max()))
    encoder = read_encoder(Path(args.encoder)) if args.encoder else None

    def note(folder: Path) -> None:
        if encoder:
            write_json(folder / WORDS_FILE, encoder)

    if not args.items:
        return [str(i) for i in range(len(vectors))], vectors, note
    items = list(read_titles(Path(args.items)))
    if len(items) != len(vectors):
        raise InputError(args.embeddings, f"a vector for each of {len(items)} items", len(vectors))
    return items, vectors, note
