"""`python -m trainer refresh`: base model and active version become a new base model, all of whose
weights learn the follower's store."""

import argparse
import shutil
from pathlib import Path

import torch
from safetensors.torch import save_file

from ..checkpoint import whole_folder, write_json
from ..errors import InputError
from ..finetune import digest_of
from ..flags import writable_folder
from ..idle import yield_cores
from .gate import Losses, judge
from .gateway import Away, Gateway, Held, LiveItem, Refused, connect
from .guards import Limits, choose
from .learner import Learner, Plan
from .refreshed import RECORD
from .report import Beat
from .samples import Sampling, slice_of, to_learn
from .store import Cycle, Store

WEIGHTS = "model.safetensors"


def run(args: argparse.Namespace) -> int:
    """Writes the folder, or says why not. Reads the store beside a follower that goes on."""
    yield_cores(print)
    torch.set_num_threads(args.threads)
    base, out = Path(args.model), Path(args.out)
    if out.exists():
        raise InputError(str(out), "a name that is free", "a file or folder")
    if not (base / WEIGHTS).is_file():
        raise InputError(str(base), f"a folder with one {WEIGHTS}", "none")
    writable_folder(str(out.parent))
    store = Store(Path(args.state), reads=True)
    live, base_digest, serving = _served(args)
    learner = Learner(base, Plan(epochs=args.epochs, batch_size=args.batch_size, lr=args.lr),
                      args.device, Beat(lambda text: print(text, flush=True)))
    learner.use_items(live)
    limits = Limits(args.held_out, examples_max=args.examples_max, replay=0.0,
                    replay_least=0)
    cycle, new = _whole(store, live, limits, args)
    version = _active(store, base_digest, serving)
    samples = to_learn(store, cycle, args.answers, limits, Sampling(samples_max=10 * len(new)),
                       (new, []))
    gate, _ = learner.split(slice_of(store, cycle, args.answers, limits, Sampling(), live))
    model = learner.open(version)
    before = learner.losses(learner.open(None), gate) if gate else None
    active = learner.losses(model, gate) if gate else None
    if version is not None:
        model = model.merge_and_unload()
    for value in model.parameters():
        value.requires_grad = True
    figures = learner.fit(model, samples, args.seed)
    losses = Losses.none() if before is None or active is None else Losses(
        [one.example.user for one in gate], before, active, learner.losses(model, gate),
        sum(one.taken for one in gate))
    verdict = judge(losses, args.gate_least, 0.0, 1.0)
    print(f"{len(new)} examples, {figures['rows']} rows, loss {figures['loss_first']:.4f} -> "
          f"{figures['loss_last']:.4f}; held out " + ", ".join(
              f"{name} {value:.4f}" for name, value in verdict.figures.items()))
    if verdict.reason:
        print(f"nothing is written: {verdict.reason}")
        return 1
    _write(model, base, out, {"holder": store.key("holder"), "upto": cycle.upto,
                              "shown_upto": cycle.shown_upto,
                              "learned_until_ms": cycle.learned_until_ms, **verdict.figures})
    print(f"{out}: copy it to the service's weights.path, then npm run weights -- update "
          f"{out.name} --end-adapters, and follow with --model {out}")
    return 0


def _served(args: argparse.Namespace) -> tuple[dict[str, LiveItem], str, str]:
    """Items, digest of the base model and that of the active version, "" without one: a store says
    what served last, which may have been of weights that this base has learned already."""
    try:
        with connect(args) as client:
            gateway = Gateway(client, args.name, "")
            served = gateway.base_model()
            if digest_of(Path(args.model), lambda _: None) not in (None, served):
                raise InputError(f"--model {args.model}", "the weights that the service has",
                                 "others")
            active = (one.digest for one in gateway.versions() if one.state == "active")
            return gateway.items(), served, next(active, "")
    except (Away, Held, Refused) as error:
        raise InputError(args.address, "a service that answers", str(error)) from error


def _whole(store: Store, live, limits: Limits, args: argparse.Namespace) -> tuple[Cycle, list[int]]:
    """All that the store has, as one cycle that is not kept."""
    upto, shown_upto = store.newest()
    rows = store.rows(0, upto, args.answers)
    choice = choose(rows, [], live, limits, args.seed)
    if not choice.new:
        raise InputError(f"--state {args.state}", "examples", "none")
    notes = {"bots": choice.bots, "shares": choice.shares, "since_ms": choice.since_ms}
    return Cycle(0, "chosen", "", "", 0, upto, 0, shown_upto, args.seed, 0,
                 store.newest_ms(upto, args.answers), "", notes), choice.new


def _active(store: Store, base: str, serving: str) -> Path | None:
    """Folder of the factors that serve: they mean nothing to another base, and twice as much to one
    that has them."""
    if not serving:
        return None
    cycle = store.of_version(serving)
    folder = store.folder / "versions" / f"{cycle.id:06d}" if cycle else None
    if cycle is None or folder is None or not folder.is_dir():
        raise InputError(f"--state {store.folder}", f"the factors of {serving[:12]}, which serves",
                         "none")
    if cycle.base != base:
        raise InputError(f"--state {store.folder}", f"factors of {base[:12]}, the base model",
                         f"{serving[:12]} of {cycle.base[:12]}")
    return folder


def _write(model, base: Path, out: Path, record: dict[str, object]) -> None:
    """The base's folder with other weights of the same names and types: that alone may change under
    a service that runs."""
    from safetensors import safe_open

    with whole_folder(out) as partial:
        for path in base.iterdir():
            if path.is_file() and path.name not in (WEIGHTS, RECORD):
                shutil.copyfile(path, partial / path.name)
        state = model.state_dict()
        with safe_open(base / WEIGHTS, framework="pt") as old:
            tensors = {name: state[name].detach().to(old.get_tensor(name).dtype).contiguous().cpu()
                       for name in old.keys()}
        save_file(tensors, partial / WEIGHTS, {"format": "pt"})
        shutil.copymode(base / WEIGHTS, partial / WEIGHTS)
        write_json(partial / RECORD, record)
