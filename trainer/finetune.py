"""`python -m trainer finetune`: new behaviours in, a PEFT folder for the served model out."""

import argparse
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from peft import LoraConfig, PeftModel, get_peft_model
from safetensors import SafetensorError
from torch.nn import functional
from tqdm import tqdm
from transformers import AutoModelForCausalLM

from . import behaviours
from .checkpoint import whole_folder, write_json
from .curves import Curves
from .data import read_text
from .errors import InputError
from .flags import writable_folder
from .follow.gate import Losses, difference, judge
from .follow.store import is_held_out
from .history import Users
from .logs import read_profiles
from .prompts import PromptWriter, read_prompt_folder
from .samples import IGNORED, Row, batches, padded
from .trained_template import check_users

SAVED = ("adapter_config.json", "adapter_model.safetensors")
WEIGH_ROWS = 128
DOCTOR = Path(__file__).parents[1] / "dist" / "tools" / "doctor.js"


def run(args: argparse.Namespace) -> int:
    """Reads, trains, weighs on held-out users, saves; the folder appears under its name when it is
    whole. 1: the gate is shut."""
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    out = Path(args.out)
    if out.exists():
        raise InputError(str(out), "a name that is free", "a file or folder")
    writable_folder(str(out.parent))
    prompts = read_prompt_folder(Path(args.model))
    users = _users(args)
    check_users(prompts, users, "behaviours")
    pairs = rows_by_user(users, prompts, args.hours)
    rows = [row for user, row in pairs if not is_held_out(user, args.validate)]
    held = [(user, row) for user, row in pairs if is_held_out(user, args.validate)]
    if not rows:
        raise InputError("behaviours", f"some of the last {args.hours} hours, with items of the "
                         "catalogue, of users that are not held out", "none")
    model = _opened(args)
    validation = Validation(model, held)
    first, last = train(model, rows, args, validation)
    reason = validation.reason()
    if reason and args.gate:
        print(f"nothing is written: {reason} (--no-gate writes it all the same)")
        return 1
    with whole_folder(out) as partial:
        write_adapter(model, Path(args.model), partial)
        validation.write_curves(partial)
    size = sum(path.stat().st_size for path in out.iterdir() if path.is_file()) / 1024
    print(f"{out}: {len(rows)} behaviours, loss {first:.3f} -> {last:.3f}, "
          f"{validation.words()}, {size:.0f} KiB")
    return 0


def _opened(args: argparse.Namespace):
    """The model with new factors, or with those of --from, which go on."""
    base = AutoModelForCausalLM.from_pretrained(args.model, dtype=torch.float32)
    if not args.start_from:
        return get_peft_model(base, LoraConfig(task_type="CAUSAL_LM", r=args.rank,
                                               lora_alpha=2 * args.rank,
                                               target_modules="all-linear"))
    folder = Path(args.start_from)
    if not all((folder / name).is_file() for name in SAVED):
        raise InputError(f"--from {folder}", f"a folder with {' and '.join(SAVED)}", "none")
    try:
        return PeftModel.from_pretrained(base, folder, is_trainable=True)
    except (RuntimeError, ValueError, KeyError, SafetensorError) as error:
        raise InputError(f"--from {folder}", "factors of the model's matrices",
                         str(error).splitlines()[0]) from error


def _users(args: argparse.Namespace) -> Users:
    if args.behaviours:
        profiles = read_profiles(Path(args.profiles)) if args.profiles else {}
        return behaviours.read_file(Path(args.behaviours), profiles)
    if not args.users:
        raise InputError("--users", "a file of user ids beside --address", None)
    users = read_text(Path(args.users)).split()
    return behaviours.ask(args, users)


class Validation:
    """Losses on users that are not trained on: before the first epoch and after each."""

    def __init__(self, model, held: list[tuple[str, Row]]) -> None:
        self.users, self.rows = [user for user, _ in held], [row for _, row in held]
        self.model, self.trained = model, []
        self.losses = [self._weigh()]

    def _weigh(self) -> np.ndarray:
        """Of each row, the sum over its answer."""
        was_training = self.model.training
        self.model.eval()
        found = row_losses(self.model, self.rows)
        self.model.train(was_training)
        return found

    def add(self, trained: float) -> None:
        """After an epoch with a mean loss of the rows that were trained on."""
        self.trained.append(trained)
        self.losses.append(self._weigh())

    def reason(self) -> str:
        """Why the adapter is worse than what it began with, "" where it is not, or where nobody
        is held out."""
        if not self.users:
            return ""
        verdict = judge(Losses(self.users, self.losses[0], self.losses[0], self.losses[-1]), 1,
                        0.0, 1.0)
        return verdict.reason

    def words(self) -> str:
        if not self.users:
            return "no user held out"
        found = difference(self.losses[-1], self.losses[0], self.users)
        return (f"held out ({len(self.users)}) {self.losses[0].mean():.3f} -> "
                f"{self.losses[-1].mean():.3f} ({found.mean:+.3f} \u00b1 {found.error:.3f})")

    def write_curves(self, folder: Path) -> None:
        curves = Curves(folder)
        for epoch, losses in enumerate(self.losses):
            values = {"validation/loss": float(losses.mean())} if self.users else {}
            if epoch:
                values["train/loss"] = self.trained[epoch - 1]
            curves.add(epoch, values)
        curves.close()


@torch.no_grad()
def row_losses(model, rows: list[Row]) -> np.ndarray:
    """Sums over the counted tokens of each row."""
    found = np.zeros(len(rows))
    order = np.argsort([len(row.tokens) for row in rows], kind="stable")
    for begin in range(0, len(order), WEIGH_ROWS):
        places = order[begin:begin + WEIGH_ROWS]
        inputs, labels = padded([rows[place] for place in places], 0)
        logits = model(input_ids=inputs).logits[:, :-1].transpose(1, 2)
        each = functional.cross_entropy(logits, labels[:, 1:], ignore_index=IGNORED,
                                        reduction="none")
        found[places] = each.sum(1).numpy()
    return found


def rows_of(users: Users, prompts: PromptWriter, hours: float) -> list[Row]:
    """Rows of all users."""
    return [row for _, row in rows_by_user(users, prompts, hours)]


def rows_by_user(users: Users, prompts: PromptWriter, hours: float) -> list[tuple[str, Row]]:
    """A row for each behaviour of the last hours: what the service would have asked the model in
    its scene, then it; the loss counts it alone. Those whose prompt the service would have refused
    are left out and printed."""
    begin = behaviours.recent_from(users, hours)
    rows = []
    refused = 0
    for name, user in users.items():
        for place, behaviour in enumerate(user.behaviours):
            if behaviour.time <= begin or behaviour.item not in prompts.items:
                continue
            try:
                row, _ = prompts.row(user.profile, user.behaviours[:place], behaviour,
                                     counts=lambda _: False)
            except InputError as error:
                refused += 1
                print(f"left out: {error}")
                continue
            rows.append((name, row))
    if refused:
        print(f"{refused} behaviours are left out: the service refuses such prompts")
    return [(name, row) for name, row in rows if not row.counted[0]]


def train(model, rows: list[Row], args: argparse.Namespace,
          validation: Validation) -> tuple[float, float]:
    """Returns the mean loss of the first epoch and of the last."""
    factors = [value for value in model.parameters() if value.requires_grad]
    optimizer = torch.optim.AdamW(factors, lr=args.lr, weight_decay=0.0)
    rng = np.random.default_rng(args.seed)
    pad = model.config.pad_token_id or 0
    losses = []
    model.train()
    for epoch in range(args.epochs):
        work = batches(rows, args.batch_size, pad, rng)
        total = 0.0
        with tqdm(work, desc=f"epoch {epoch + 1}/{args.epochs}", unit="batch") as bar:
            for seen, (inputs, labels) in enumerate(bar, 1):
                logits = model(input_ids=inputs).logits[:, :-1]
                wanted = labels[:, 1:]
                loss = functional.cross_entropy(logits.flatten(0, 1), wanted.flatten(),
                                                ignore_index=IGNORED)
                optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(factors, 1.0)
                optimizer.step()
                total += loss.item()
                bar.set_postfix(loss=f"{total / seen:.3f}", refresh=False)
        losses.append(total / max(1, len(work)))
        validation.add(losses[-1])
        # The loss of a step is that of the factors before it.
        found = [losses[-1], validation.losses[-1].sum(), row_losses(model, rows[-1:]).sum(),
                 *(value.sum().item() for value in factors)]
        if not np.isfinite(found).all():
            raise InputError("--lr", "a rate by which losses and factors stay numbers",
                             f"loss {losses[-1]} in epoch {epoch + 1}; nothing is written")
    return losses[0], losses[-1]


def digest_of(base: Path, says: Callable[[str], None] = print) -> str | None:
    """The weights of a folder as the service names them; None, with a line that says why, where
    the service is not built beside the trainer, or would not serve the folder."""
    if shutil.which("node") is None or not DOCTOR.exists():
        says("the adapter does not name its model: the service is not built here; push it with "
              "--base, or only to a service of the same weights")
        return None
    answer = subprocess.run(["node", str(DOCTOR), str(base)], capture_output=True, text=True)
    named = re.search("^weights ([0-9a-f]{32})$", answer.stdout, re.MULTILINE)
    if named is None:
        says(f"the adapter does not name its model: {answer.stdout}{answer.stderr}".strip())
        return None
    return named[1]


def write_adapter(model, base: Path, folder: Path) -> None:
    """An adapter as PEFT saves it, and nothing else: without the base model's path, with the digest
    of its weights as `revision`, which a push names."""
    # PEFT would ask a hub for the base's vocabulary, to see whether it has grown.
    model.save_pretrained(folder, save_embedding_layers=False)
    for path in folder.iterdir():
        if path.name not in SAVED:
            path.unlink()
    config = json.loads((folder / SAVED[0]).read_text())
    config["base_model_name_or_path"] = base.name
    config["revision"] = digest_of(base)
    if isinstance(config["target_modules"], list):
        config["target_modules"].sort()
    write_json(folder / SAVED[0], config)
