"""Flags of `python -m trainer import`; read without PyTorch."""

import argparse
from collections.abc import Callable

from ..flags import count
from .settings import LIBRARIES, NORMS


def _token(text: str) -> int:
    value = int(text)
    if not 0 <= value < 1 << 31:
        raise argparse.ArgumentTypeError("expected a token id")
    return value


def add_import(commands, run: Callable[[argparse.Namespace], int | None]) -> None:
    parser = commands.add_parser("import", help="a trained TIGER of another library -> a folder "
                                 "that is served")
    parser.add_argument("source", metavar="FROM", help="a Hugging Face folder, a run of GRID or "
                        "its checkpoint, what Cornac saved, or a torch file of their tensors")
    parser.add_argument("--out", required=True, help="folder to write; the name must be free")
    parser.add_argument("--library", choices=LIBRARIES, help="that trained it (left out: seen by "
                        "the names of its tensors)")
    parser.add_argument("--index", help="semantic IDs: index.json, or a table of codes, FILE.pt or "
                        "FILE.npy (left out: that of the checkpoint, or beside it)")
    parser.add_argument("--item-ids", help="ids of a table's rows: a JSON array, or a line each "
                        "(left out: 0, 1, 2, ..)")
    parser.add_argument("--items", help="titles: FILE.tsv[.gz] or FILE.json[.gz]")
    parser.add_argument("--config", help="GRID's config.yaml (left out: .hydra/config.yaml of the "
                        "run)")
    parser.add_argument("--norm", choices=NORMS, help="of scores, that requests are to ask for")
    parser.add_argument("--max-items", type=count, help="items that the encoder sees")
    parser.add_argument("--user-bins", type=count, help="tokens of hashed users, one in front of "
                        "the history")
    numbers = parser.add_argument_group("token ids of a Hugging Face model without a tokenizer")
    numbers.add_argument("--token-base", type=_token, nargs="+", metavar="ID",
                         help="of code 0 of each level")
    numbers.add_argument("--added-base", type=_token, metavar="ID", help="of the index's tokens "
                         "in sorted order, as LETTER-TIGER and torch-rechub add them to T5's "
                         "(32100)")
    numbers.add_argument("--codes", type=count, nargs="+", metavar="N", help="codes of each level "
                         "(left out: the highest of the index, and one)")
    numbers.add_argument("--user-base", type=_token, metavar="ID", help="of user 0")
    numbers.add_argument("--separator-token", type=_token, metavar="ID", help="behind each item")
    parser.add_argument("--encoder-end", action=argparse.BooleanOptionalAction, default=None,
                        help="</s> ends the encoder's input")
    parser.add_argument("--answer-end", action=argparse.BooleanOptionalAction, default=None,
                        help="</s> ends each answer, and is scored")
    parser.add_argument("--feed-forward", metavar="NAME", help="feed_forward_proj, where no "
                        "config tells it: relu, gated-gelu, ..")
    parser.add_argument("--max-distance", type=count, help="relative_attention_max_distance, where "
                        "no config tells it")
    parser.set_defaults(run=run)
