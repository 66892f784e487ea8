"""`python -m trainer finetune`: new behaviours in, a PEFT folder for the served model out."""

import argparse
import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import torch
from peft import LoraConfig, get_peft_model
from torch.nn import functional
from tqdm import tqdm
from transformers import AutoModelForCausalLM

from . import behaviours
from .checkpoint import whole_folder, write_json
from .data import read_text
from .errors import InputError
from .history import Users
from .logs import read_profiles
from .prompts import PromptWriter, read_prompt_folder
from .samples import IGNORED, Row, batches
from .trained_template import check_users

SAVED = ("adapter_config.json", "adapter_model.safetensors")
DOCTOR = Path(__file__).parents[1] / "dist" / "tools" / "doctor.js"


def run(args: argparse.Namespace) -> None:
    """Reads, trains, saves; the folder appears under its name when it is whole."""
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    out = Path(args.out)
    if out.exists():
        raise InputError(str(out), "a name that is free", "a file or folder")
    prompts = read_prompt_folder(Path(args.model))
    users = _users(args)
    check_users(prompts, users, "behaviours")
    rows = rows_of(users, prompts, args.hours)
    if not rows:
        raise InputError("behaviours", f"some of the last {args.hours} hours, with items of the "
                         "catalogue", "none")
    model = get_peft_model(
        AutoModelForCausalLM.from_pretrained(args.model, dtype=torch.float32),
        LoraConfig(task_type="CAUSAL_LM", r=args.rank, lora_alpha=2 * args.rank,
                   target_modules="all-linear"))
    first, last = train(model, rows, args)
    with whole_folder(out) as partial:
        write_adapter(model, Path(args.model), partial)
    size = sum(path.stat().st_size for path in out.iterdir()) / 1024
    print(f"{out}: {len(rows)} behaviours, loss {first:.3f} -> {last:.3f}, {size:.0f} KiB")


def _users(args: argparse.Namespace) -> Users:
    if args.behaviours:
        profiles = read_profiles(Path(args.profiles)) if args.profiles else {}
        return behaviours.read_file(Path(args.behaviours), profiles)
    if not args.users:
        raise InputError("--users", "a file of user ids beside --address", None)
    users = read_text(Path(args.users)).split()
    return behaviours.ask(args, users)


def rows_of(users: Users, prompts: PromptWriter, hours: float) -> list[Row]:
    """A row for each behaviour of the last hours: what the service would have asked the model in
    its scene, then it; the loss counts it alone. Those whose prompt the service would have refused
    are left out and printed."""
    begin = behaviours.recent_from(users, hours)
    rows = []
    refused = 0
    for user in users.values():
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
            rows.append(row)
    if refused:
        print(f"{refused} behaviours are left out: the service refuses such prompts")
    return [row for row in rows if not row.counted[0]]


def train(model, rows: list[Row], args: argparse.Namespace) -> tuple[float, float]:
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
    return losses[0], losses[-1]


def digest_of(base: Path) -> str | None:
    """The weights of a folder as the service names them; None, with a line that says why, where
    the service is not built beside the trainer, or would not serve the folder."""
    if shutil.which("node") is None or not DOCTOR.exists():
        print("the adapter does not name its model: the service is not built here; push it with "
              "--base, or only to a service of the same weights")
        return None
    answer = subprocess.run(["node", str(DOCTOR), str(base)], capture_output=True, text=True)
    named = re.search("^weights ([0-9a-f]{32})$", answer.stdout, re.MULTILINE)
    if named is None:
        print(f"the adapter does not name its model: {answer.stdout}{answer.stderr}".strip())
        return None
    return named[1]


def write_adapter(model, base: Path, folder: Path) -> None:
    """An adapter as PEFT saves it, and nothing else: without the base model's path, with the digest
    of its weights as `revision`, which a push names."""
    model.save_pretrained(folder)
    for path in folder.iterdir():
        if path.name not in SAVED:
            path.unlink()
    config = json.loads((folder / SAVED[0]).read_text())
    config["base_model_name_or_path"] = base.name
    config["revision"] = digest_of(base)
    if isinstance(config["target_modules"], list):
        config["target_modules"].sort()
    write_json(folder / SAVED[0], config)
