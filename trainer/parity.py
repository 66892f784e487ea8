"""`python -m trainer parity`: a checkpoint's lists by transformers, and their comparison.

Without `--compare` the lists are computed and written; with it an engine's answers are held
against the lists in `--out` (computed first when the file does not exist).
"""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from tqdm import tqdm
from transformers import AutoModelForCausalLM

from .checkpoint import write_json
from .constraint import SidTree, transformers_beam
from .data import read_index, read_json, read_text
from .errors import InputError
from .exact import in_double
from .history import NO_SCENE
from .prompts import read_prompt_folder
from .sequences import read_users

NEAR_TIE = 1e-4
Sids = dict[str, tuple[int, ...]]


def read_catalogue(path: Path) -> Sids:
    """Item -> semantic ID, from catalogue.jsonl rows (depths may differ) or an index file."""
    if ".jsonl" not in path.name:
        return read_index(path).codes
    sids: Sids = {}
    for number, line in enumerate(read_text(path).splitlines(), 1):
        where = f"{path} line {number}"
        try:
            row = json.loads(line)
            sids[str(row["item_id"])] = tuple(row["sid"])
        except (json.JSONDecodeError, KeyError, TypeError) as error:
            raise InputError(where, "an object with item_id and sid", line) from error
    if not sids:
        raise InputError(str(path), "at least one item", "none")
    return sids


def token_map(model: Path) -> Callable[[int, int], int]:
    """Token of (level, code), by the patterns of prompt.json and the tokenizer's vocabulary."""
    prompt = read_json(model / "prompt.json")
    tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))

    def token_of(level: int, code: int) -> int:
        text = prompt["levels"][level].format(code=code)
        token = tokenizer.token_to_id(text)
        if token is None:
            raise InputError(str(model / "tokenizer.json"), f"the token {text!r}", "none")
        return token

    return token_of


def read_prompts(args: argparse.Namespace, catalogue: Sids) -> list[dict[str, Any]]:
    """Token prompts from a file, or the histories of the first users of a sequences file."""
    if args.prompts:
        return [{"user": str(place), "promptTokens": tokens}
                for place, tokens in enumerate(read_json(Path(args.prompts)))]
    writer = read_prompt_folder(Path(args.model), catalogue)
    prompts = []
    for name, user in list(read_users(Path(args.sequences)).items())[:args.users]:
        history = user.behaviours[:-1] if args.hold_out_last else user.behaviours
        unknown = [one.item for one in history if one.item not in writer.items]
        if unknown:
            raise InputError(f"{args.sequences}: user {name!r}", "items of the catalogue",
                             unknown[0])
        scene = user.behaviours[-1].scene if args.hold_out_last else NO_SCENE
        prompt = writer.prompt(user.profile, scene, history)
        prompts.append({"user": name, "promptTokens": prompt.tokens,
                        "history": [history[shown.place].item for shown in prompt.shown]})
    return prompts


def run(args: argparse.Namespace) -> None:
    """Computes the lists unless they exist, then compares when asked to."""
    if bool(args.prompts) == bool(args.sequences):
        raise InputError("arguments", "one of --prompts and --sequences", "both or neither")
    out = Path(args.out)
    if not (args.compare and out.exists()):
        _compute(args, out)
    if args.compare:
        report = compare(read_json(out)["prompts"], read_json(Path(args.compare)))
        for name, value in report.items():
            print(f"{name:<44}{value}")


def _compute(args: argparse.Namespace, out: Path) -> None:
    torch.set_num_threads(args.threads)
    catalogue = read_catalogue(Path(args.catalogue))
    token_of = token_map(Path(args.model))
    terminal = [int(token) for token in args.terminal_tokens.split(",") if token]
    tree = SidTree(set(catalogue.values()), token_of, terminal)
    dtype = {"f64": torch.float64, "f32": torch.float32, "bf16": torch.bfloat16}[args.dtype]
    model = AutoModelForCausalLM.from_pretrained(args.model, dtype=dtype).eval()
    if args.dtype == "f64":
        in_double(model)
    prompts = read_prompts(args, catalogue)
    for prompt in tqdm(prompts, desc="transformers", unit="prompt", mininterval=2):
        answers = transformers_beam(model, prompt["promptTokens"], tree, args.beam)
        prompt["expected"] = [{"sid": list(a.sid), "score": a.score} for a in answers]
    bases = [token_of(level, 0) for level in range(tree.depth)] if _is_arithmetic(tree) else None
    if args.prompts_out:
        write_json(Path(args.prompts_out), [prompt["promptTokens"] for prompt in prompts])
    write_json(out, {"beam": args.beam, "dtype": args.dtype, "levelTokenBase": bases,
                     "terminalTokens": terminal, "prompts": prompts})
    print(f"{len(prompts)} prompts: {out}")


def _is_arithmetic(tree: SidTree) -> bool:
    return all(len({token - code for token, code in codes.items()}) == 1 and 0 in codes.values()
               for codes in tree.code_at)


def compare(expected: list[dict[str, Any]], ours: list[list[dict[str, Any]]]) -> dict[str, Any]:
    """Counts of equal lists; where two lists differ, how far apart the swapped scores were.

    A difference counts as a near tie when, at every place where the lists name different
    semantic IDs, the two paths' scores (by one and the same side) are closer than NEAR_TIE.
    """
    if len(expected) != len(ours):
        raise InputError("answers", f"{len(expected)} lists", len(ours))
    identical, near, far, worst_gap, worst_score, overlap = 0, 0, 0, 0.0, 0.0, 0.0
    for prompt, answers in zip(expected, ours):
        theirs = [(tuple(a["sid"]), a["score"]) for a in prompt["expected"]]
        mine = [(tuple(a["sid"]), a["score"]) for a in answers]
        scores = dict(theirs)
        worst_score = max([worst_score, *(abs(score - scores[sid]) for sid, score in mine
                                          if sid in scores)])
        overlap += len(set(scores) & {sid for sid, _ in mine}) / max(1, len(theirs))
        if [sid for sid, _ in mine] == [sid for sid, _ in theirs]:
            identical += 1
            continue
        gap = _largest_gap(theirs, mine)
        worst_gap = max(worst_gap, gap)
        near, far = (near + 1, far) if gap < NEAR_TIE else (near, far + 1)
    return {"prompts": len(expected), "identical lists (items and order)": identical,
            f"differ within near ties (< {NEAR_TIE:g})": near, "differ beyond": far,
            "largest score gap where lists differ": worst_gap,
            "largest score difference of one path": worst_score,
            "mean overlap": overlap / max(1, len(expected))}


def _largest_gap(theirs: list[tuple[tuple[int, ...], float]],
                 mine: list[tuple[tuple[int, ...], float]]) -> float:
    scores = dict(theirs)
    gap = 0.0 if len(theirs) == len(mine) else float("inf")
    for (their_sid, their_score), (my_sid, my_score) in zip(theirs, mine):
        if their_sid != my_sid:
            gap = max(gap, abs(their_score - scores.get(my_sid, my_score)))
    return gap
