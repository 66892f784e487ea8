"""`python -m trainer follow`: a version every few minutes, learned from what users do."""

import argparse
import socket
import sqlite3
import time
import warnings
from pathlib import Path

from ..errors import InputError
from ..exposures import parse_heads
from ..idle import yield_cores
from ..template import read_template
from .cycle import Follower, Outcome
from .gateway import Away, Gateway, Refused, connect
from .guards import Limits
from .metrics import Metrics
from .report import Beat, line
from .refreshed import learned_by
from .samples import Sampling
from .settings import Settings
from .sources import Facts, Source, SourceAway, Topic
from .store import Store

PAUSE_SECONDS = (2.0, 60.0)
#: Behaviours that prompts may show, of any template.
CONTEXT = 100


def run(args: argparse.Namespace) -> int:
    """Rounds until it is stopped, or as many as are asked for."""
    _check(args)
    yield_cores(lambda text: print(text, flush=True))
    warnings.filterwarnings("ignore", message=".*is_gradient_checkpointing")
    store = Store(Path(args.state), CONTEXT)
    try:
        with connect(args) as client:
            holder = store.holder(socket.gethostname())
            gateway = Gateway(client, args.name, holder)
            follower = Follower(store, _source(args), gateway, _learner(args),
                                _settings(args, holder))
            _name_base(store, args.model)
            metrics = Metrics(follower, args.metrics, Path(args.state))
            print(f"follows {args.address} as {holder}: a round every {args.every:.0f} s",
                  flush=True)
            try:
                return _rounds(follower, metrics, args)
            finally:
                metrics.close()
    except (OSError, sqlite3.Error) as error:
        where = getattr(error, "filename", None) or args.state
        raise InputError(str(where), "what can be read and written, with room",
                         getattr(error, "strerror", None) or str(error)) from error
    finally:
        store.close()


def _check(args: argparse.Namespace) -> None:
    """Flags with which no version would ever be pushed."""
    if not 0 < args.held_out < 1:
        raise InputError("--held-out", "above 0 and below 1: the gate reads these users, and the "
                         "others are learned", args.held_out)
    if args.share == 0:
        raise InputError("--share", "above 0 (1: no trial)", args.share)
    for least, most in (("examples-min", "examples-max"), ("gate-least", "gate-examples")):
        low, high = (getattr(args, name.replace("-", "_")) for name in (least, most))
        if low > high:
            raise InputError(f"--{least}", f"at most --{most}, {high}", low)


def _rounds(follower: Follower, metrics: Metrics, args: argparse.Namespace) -> int:
    left = 1 if args.once else args.cycles
    pause = PAUSE_SECONDS[0]
    while True:
        begun = time.monotonic()
        try:
            outcome = follower.once()
        except (Away, SourceAway) as away:
            print(f"waits {pause:.0f} s: {away}", flush=True)
            time.sleep(pause)
            pause = min(PAUSE_SECONDS[1], max(PAUSE_SECONDS[0], args.every), 2 * pause)
            continue
        except Refused as refused:
            raise InputError(args.address, "a service that lets this trainer follow",
                             str(refused)) from refused
        pause = PAUSE_SECONDS[0]
        _say(outcome)
        metrics.add(outcome)
        if outcome.cycle is not None and left is not None:
            left -= 1
        if left == 0 or (args.once and outcome.cycle is None):
            return 0
        time.sleep(max(0.0, args.every - (time.monotonic() - begun)))


def _say(outcome: Outcome) -> None:
    for alarm in outcome.alarms.values():
        print(f"alarm: {alarm}", flush=True)
    print(line(outcome), flush=True)


def _source(args: argparse.Namespace) -> Source:
    kept = _kept(args)
    actions = None if kept is None else sorted({*kept, args.impression})
    if args.kafka:
        return Topic(args.kafka, args.topic, actions)
    folders = [Path(folder) for folder in args.facts]
    for folder in folders:
        if folder.exists() and not folder.is_dir():
            raise InputError(f"--facts {folder}", "a folder", "a file")
        if not folder.exists():
            print(f"--facts {folder} is not there yet: the service makes it, below its "
                  "inspection.path, with the first facts", flush=True)
    return Facts(folders, actions)


def _kept(args: argparse.Namespace) -> frozenset[str] | None:
    """Actions that prompts show, and those that are learned; None: all."""
    segments = read_template(Path(args.model) / "prompt.json").histories
    if any(segment.actions is None for segment in segments):
        return None
    wanted = [action for actions in parse_heads(args.heads).values() for action in actions]
    shown = [action for segment in segments for action in segment.actions or ()]
    return frozenset({"", *args.answers, *wanted, *shown})


def _learner(args: argparse.Namespace):
    import torch

    from .learner import Learner, Plan

    torch.set_num_threads(args.threads)
    return Learner(Path(args.model), Plan(args.rank, args.epochs, args.batch_size, args.lr),
                   args.device, Beat(lambda text: print(text, flush=True)))


def _name_base(store: Store, model: str) -> None:
    """Which weights the folder has, where that can be told: to others its factors mean nothing."""
    from ..finetune import digest_of

    digest = digest_of(Path(model), lambda _: None)
    if digest is not None:
        store.set_key(f"base {model}", digest)


def _settings(args: argparse.Namespace, holder: str) -> Settings:
    every = args.every
    return Settings(
        holder, tuple(args.answers), args.impression, _kept(args), parse_heads(args.heads),
        Limits(args.held_out, args.user_share, args.user_max, args.examples_max, args.replay,
               args.samples_max),
        Sampling(args.refused, args.samples_max, args.gate_examples, args.gate_least),
        examples_min=args.examples_min, window_hours=args.window_hours, rows_max=args.rows_max,
        every_seconds=every, share=args.share,
        canary_seconds=every / 2 if args.canary_seconds is None else args.canary_seconds,
        seed=args.seed, model=args.model, base_learned=learned_by(Path(args.model), holder))
