"""Flags of `python -m trainer follow`; no package of the trainer is needed to show them."""

import argparse

from tessera_client.commands import ADDRESS, add_connection_flags

from ..flags import amount, count, name, seed, share


def add_follow(commands, run) -> None:
    parser = commands.add_parser(
        "follow", help="what users do -> a version every few minutes, into a service that runs",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--model", default="models/demo", help="folder of the model that is served")
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--facts", nargs="+", default=["data/demo/inspection/facts"],
                        metavar="FOLDER", help="folders `facts` of the service, one of each node")
    source.add_argument("--kafka", metavar="HOST:PORT,..", help="brokers of the topic of "
                        "behaviours (needs confluent-kafka)")
    parser.add_argument("--topic", default="behaviours")
    parser.add_argument("--address", default=ADDRESS, help="HOST:PORT of the service")
    add_connection_flags(parser)
    parser.add_argument("--name", type=name, default="main", help="of the adapter")
    parser.add_argument("--state", default="data/demo/follow", help="folder that keeps what is "
                        "learned, for one process")
    parser.add_argument("--metrics", type=int, metavar="PORT", help="serves metrics for Prometheus "
                        "on this port of this machine")
    _add_pace(parser)
    _add_examples(parser)
    _add_training(parser)
    parser.set_defaults(run=run)


def add_refresh(commands, run) -> None:
    parser = commands.add_parser(
        "refresh", help="base model and active version -> a base model that learned the store",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--model", default="models/demo", help="folder of the base model")
    parser.add_argument("--state", default="data/demo/follow", help="of `follow`, which may run")
    parser.add_argument("--address", default=ADDRESS, help="HOST:PORT of the service")
    add_connection_flags(parser)
    parser.add_argument("--name", type=name, default="main", help="of the adapter")
    parser.add_argument("--out", required=True, help="folder to write")
    parser.add_argument("--answers", nargs="+", default=["click", "purchase"], metavar="ACTION")
    parser.add_argument("--examples-max", type=count, default=100_000)
    parser.add_argument("--held-out", type=share, default=0.1, help="as of `follow`")
    parser.add_argument("--gate-least", type=count, default=30, help="as of `follow`")
    parser.add_argument("--epochs", type=count, default=2)
    parser.add_argument("--batch-size", type=count, default=64)
    parser.add_argument("--lr", type=amount, default=3e-4)
    parser.add_argument("--seed", type=seed, default=1)
    parser.add_argument("--threads", type=count, default=1)
    parser.add_argument("--device", default="cpu", help="of PyTorch: cpu, cuda, cuda:1, ...")
    parser.set_defaults(run=run)


def _add_pace(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--every", type=amount, default=120.0, help="seconds from round to round")
    parser.add_argument("--once", action="store_true", help="one round, then ends")
    parser.add_argument("--cycles", type=count, help="ends after so many (left out: never)")
    parser.add_argument("--share", type=share, default=0.5, help="of the users that a version is "
                        "tried on (1: no trial)")
    parser.add_argument("--canary-seconds", type=amount, help="that a version is tried for (left "
                        "out: half of --every)")


def _add_examples(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--answers", nargs="+", default=["click", "purchase"], metavar="ACTION",
                        help="actions that are learned")
    parser.add_argument("--impression", default="impression", help="action of items that a user "
                        "looked at (where there are none: all that was recalled)")
    parser.add_argument("--window-hours", type=amount, default=48.0,
                        help="behaviours that are kept")
    parser.add_argument("--rows-max", type=count, default=2_000_000,
                        help="behaviours that are kept")
    parser.add_argument("--examples-min", type=count, default=50,
                        help="new ones that a cycle needs")
    parser.add_argument("--examples-max", type=count, default=4000, help="new ones of a cycle; the "
                        "oldest beyond are shed")
    parser.add_argument("--replay", type=amount, default=1.0,
                        help="older examples for each new one")
    parser.add_argument("--refused", type=amount, default=4.0, help="shown items that were not "
                        "taken, for each example of a known recall")
    parser.add_argument("--samples-max", type=count, default=8000, help="of a cycle, examples and "
                        "shown items: replay first gives way, then the latter")
    parser.add_argument("--held-out", type=share, default=0.1, help="of the users, never learned: "
                        "the gate reads their newest examples")
    parser.add_argument("--gate-examples", type=count, default=400, help="newest ones of these")
    parser.add_argument("--gate-least", type=count, default=30, help="fewer open no gate")
    parser.add_argument("--user-share", type=share, default=0.05, help="of the examples, above "
                        "which a user is left out whole")
    parser.add_argument("--user-max", type=count, default=20, help="examples of a user in a cycle")


def _add_training(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--heads", nargs="+", default=[], metavar="NAME[=ACTION,..]",
                        help="heads that rank, trained with each version and pushed in it")
    parser.add_argument("--rank", type=count, default=16, help="of the first version's factors")
    parser.add_argument("--epochs", type=count, default=2)
    parser.add_argument("--batch-size", type=count, default=64)
    parser.add_argument("--lr", type=amount, default=2e-3)
    parser.add_argument("--seed", type=seed, default=1)
    parser.add_argument("--threads", type=count, default=1)
    parser.add_argument("--device", default="cpu", help="of PyTorch: cpu, cuda, cuda:1, ...")
