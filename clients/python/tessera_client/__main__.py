"""`python -m tessera_client push FOLDER --name NAME`: a version of an adapter to a service."""

import argparse
import sys

from .adapters import Adapters
from .client import Client
from .connection import Tls
from .errors import TesseraError


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tessera_client", description=__doc__)
    parser.add_argument("--address", default="127.0.0.1:50051")
    parser.add_argument("--tls", action="store_true", help="call the service over TLS")
    parser.add_argument("--ca", help="authority of its certificate; default: those of the system")
    parser.add_argument("--cert", help="own certificate, where the service asks for one")
    parser.add_argument("--key", help="its private key")
    parser.add_argument("--token-file")
    commands = parser.add_subparsers(required=True)
    push = commands.add_parser("push", help="sends a folder as PEFT saved it")
    push.add_argument("folder")
    push.add_argument("--name", required=True)
    push.add_argument("--base", help="digest of the base weights; default: the served ones")
    push.add_argument("--remark", default="")
    push.add_argument("--share", type=float, default=0.0, help="of the users to serve with it")
    push.add_argument("--force", action="store_true", help="whatever the overlap of its answers")
    push.set_defaults(run=_push)
    activate = commands.add_parser("activate", help="serves every user with a version")
    activate.add_argument("--name", required=True)
    activate.add_argument("--digest", required=True)
    activate.add_argument("--force", action="store_true")
    activate.set_defaults(run=_activate)
    roll_back = commands.add_parser("roll-back", help="ends a canary, or goes back a version")
    roll_back.add_argument("--name", required=True)
    roll_back.set_defaults(run=lambda adapters, args: adapters.roll_back(args.name))
    return parser


def _push(adapters: Adapters, args: argparse.Namespace) -> None:
    version = adapters.push(args.folder, args.name, base_model=args.base, remark=args.remark)
    print(f"valid: {version.name} {version.digest}")
    if args.share > 0:
        adapters.canary(args.name, version.digest, args.share, force=args.force)
        print(f"serves {args.share:.0%} of the users")


def _activate(adapters: Adapters, args: argparse.Namespace) -> None:
    adapters.activate(args.name, args.digest, force=args.force)
    print(f"active: {args.name} {args.digest}")


def main() -> None:
    args = _parser().parse_args()
    is_tls = args.tls or args.ca or args.cert
    tls = Tls(args.ca, args.cert, args.key) if is_tls else None
    try:
        with Client(args.address, tls=tls, token_file=args.token_file) as client:
            args.run(client.adapters, args)
    except (TesseraError, OSError, ValueError) as error:
        sys.exit(f"tessera_client: {error}")


if __name__ == "__main__":
    main()
