"""Commands of this package; other programs in Python take over their flags and what they do."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable

from .adapters import Adapters
from .client import Client
from .connection import Tls
from .errors import TesseraError

ADDRESS = "127.0.0.1:50051"
TOKEN_VARIABLE = "TESSERA_TOKEN"

Action = Callable[[Adapters, argparse.Namespace], object]


def add_connection_flags(parser: argparse.ArgumentParser) -> None:
    """How a service is reached; `--address` is a flag of each command. See `client_of`."""
    parser.add_argument("--tls", action="store_true", help="call the service over TLS")
    parser.add_argument("--ca", help="authority of its certificate; default: those of the system")
    parser.add_argument("--cert", help="own certificate, where the service asks for one")
    parser.add_argument("--key", help="its private key")
    parser.add_argument("--token-file", help=f"default: the variable {TOKEN_VARIABLE}")


def client_of(args: argparse.Namespace) -> Client:
    """A client of `args.address`; any file of TLS stands for --tls. Raises ValueError, OSError."""
    if (args.cert is None) != (args.key is None):
        raise ValueError("--cert, --key: expected both of them, got one")
    is_tls = args.tls or args.ca is not None or args.cert is not None
    tls = Tls(args.ca, args.cert, args.key) if is_tls else None
    token = None if args.token_file else os.getenv(TOKEN_VARIABLE, "").strip()
    return Client(args.address, tls=tls, token=token, token_file=args.token_file)


def add_commands(commands) -> None:
    """Every command, to what `add_subparsers` returned."""
    add_push(commands)
    activate = _add(commands, "activate", "serves every user with a version", _activate)
    activate.add_argument("--digest", required=True)
    activate.add_argument("--force", action="store_true")
    back = _add(commands, "roll-back", "ends a canary, or goes back a version", _roll_back)
    back.add_argument("--digest", default="", help="only where this version serves")


def add_push(commands) -> None:
    push = _add(commands, "push", "a folder as PEFT saved it -> a service that runs", _push)
    push.add_argument("folder")
    push.add_argument(
        "--base", help="digest of the base weights; default: the folder's revision, or the served"
    )
    push.add_argument("--remark", default="")
    push.add_argument(
        "--share",
        type=_share,
        default=0.0,
        help="of the users to serve with it, 1: all; default: none",
    )
    push.add_argument("--force", action="store_true", help="whatever the overlap of its answers")


def run(args: argparse.Namespace) -> int:
    """Does what the command of `args` says; returns the status to exit with."""
    try:
        with client_of(args) as client:
            args.act(client.adapters, args)
    except (TesseraError, OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def _add(commands, name: str, what: str, act: Action) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=what)
    parser.add_argument("--address", default=ADDRESS, help=f"HOST:PORT; default: {ADDRESS}")
    parser.add_argument("--name", default="main", help="of the adapter; default: main")
    add_connection_flags(parser)
    parser.set_defaults(run=run, act=act)
    return parser


def _push(adapters: Adapters, args: argparse.Namespace) -> None:
    shown = _Progress()
    version = adapters.push(
        args.folder, args.name, base_model=args.base, remark=args.remark, on_bytes=shown.add
    )
    shown.end()
    print(
        f"valid: {version.name} {version.digest}\n"
        f"  rank {version.rank_max}, {version.target_count} matrices, "
        f"{version.replaced_rows} rows replaced, largest norm {version.largest_norm:.3f}"
    )
    if args.share > 0:
        done = adapters.canary(args.name, version.digest, args.share, force=args.force)
        print(f"activated for {args.share:.0%} of the users, {done.warmed_users} of them warmed up")


def _activate(adapters: Adapters, args: argparse.Namespace) -> None:
    adapters.activate(args.name, args.digest, force=args.force)
    print(f"active: {args.name} {args.digest}")


def _roll_back(adapters: Adapters, args: argparse.Namespace) -> None:
    replaced = adapters.roll_back(args.name, digest=args.digest).replaced
    print(f"rolled back: {replaced.name} {replaced.digest}")


class _Progress:
    """Says on a terminal how much has been sent."""

    def __init__(self) -> None:
        self._sent_bytes = 0

    def add(self, count: int) -> None:
        self._sent_bytes += count
        if sys.stderr.isatty():
            print(f"\rsent: {self._sent_bytes / 2**20:.1f} MiB", end="", file=sys.stderr)

    def end(self) -> None:
        if sys.stderr.isatty():
            print(file=sys.stderr)


def _share(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"expected a share of 0 to 1, got {text}")
    return value
