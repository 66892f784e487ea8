"""`python -m tessera_client push FOLDER --name NAME`: a version of an adapter to a service."""

import argparse
import sys

from .commands import add_commands


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tessera_client", description=__doc__)
    add_commands(parser.add_subparsers(required=True))
    args = parser.parse_args()
    return args.run(args)


if __name__ == "__main__":
    sys.exit(main())
