"""The training loop: seeded, resumable, stopped early by the validation metric."""

import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from torch.nn import functional
from tqdm import tqdm
from transformers import Qwen3ForCausalLM

from .checkpoint import load_state, save_state
from .curves import Curves
from .errors import InputError
from .model import parameter_groups
from .parallel import Processes
from .samples import IGNORED, Row, batches
from .settings import Plan

SAVE_SECONDS = 60.0


class Rows(Protocol):
    """Where training rows come from; called once per epoch."""

    def epoch(self, rng: np.random.Generator) -> list[Row]: ...


@dataclass
class Progress:
    """State that a resumed run needs; saved with weights and optimiser."""

    epoch: int = 0
    batch: int = 0
    seconds: float = 0.0
    best: float = -1.0
    since_best: int = 0
    steps: int = 0
    epoch_steps: int = 0
    curve: list[dict[str, float]] = field(default_factory=list)

    @property
    def unfinished(self) -> str:
        """A line about a training that ended in its first epoch, or before a validation; "" of any
        other."""
        if not self.curve:
            return ("no time was left to train: this is no model; the same command with more "
                    "--minutes goes on")
        if self.epoch > 0:
            return ""
        return (f"{self.steps} batches of {self.epoch_steps} of epoch 1: this is no model; the "
                "same command with more --minutes goes on")


class Training:
    """Owns the model's weights while they are trained; `best` is called whenever the newest are to
    be kept: those whose recall is at most its `doubt`, a standard error, below the highest. Goes on
    from where a run with this fingerprint stopped. Errors: InputError where the state is of
    another."""

    def __init__(self, model: Qwen3ForCausalLM, rows: Rows, plan: Plan, state_file: Path,
                 fingerprint: str, validate: Callable[[float | None], dict[str, float]],
                 best: Callable[[Progress], None],
                 processes: Processes | None = None,
                 doubt: Callable[[float], float] = lambda _: 0.0,
                 curves: Curves | None = None) -> None:
        self.model, self.rows, self.plan = model, rows, plan
        self.state_file, self.fingerprint = state_file, fingerprint
        self.validate, self.best, self.doubt = validate, best, doubt
        self.curves = curves
        self.processes = processes or Processes()
        self.device = self.processes.device
        model.to(self.device)
        self.optimizer = torch.optim.AdamW(
            parameter_groups(model, plan.weight_decay), lr=plan.lr, betas=(0.9, 0.98), fused=True)
        self.progress = Progress()
        self._resume()

    def run(self, spent_seconds: float = 0.0) -> Progress:
        """Trains to the end of the plan; `spent_seconds` of its minutes were spent before."""
        self.progress.seconds += spent_seconds
        while self.progress.epoch < self.plan.epochs and not self._finished():
            loss = self._epoch()
            is_whole = self.progress.batch >= self.progress.epoch_steps
            if is_whole:
                self.progress.epoch += 1
                self.progress.batch = 0
            last = self.progress.epoch >= self.plan.epochs or self._out_of_time()
            if last or self.progress.epoch % self.plan.validate_every == 0:
                self._validate(loss)
            self._save()
        return self.progress

    def _finished(self) -> bool:
        return self._out_of_time() or self.progress.since_best >= self.plan.patience

    def _out_of_time(self) -> bool:
        return 0 < self.plan.training_seconds <= self.progress.seconds

    def _epoch(self) -> float:
        rng = np.random.default_rng([self.plan.seed, self.progress.epoch])
        pad = self.model.config.pad_token_id
        work = batches(self.rows.epoch(rng), self.plan.batch_size, pad, rng)
        self.progress.epoch_steps = len(work)
        self.model.train()
        total, seen, saved = 0.0, 0, time.monotonic()
        label = f"epoch {self.progress.epoch + 1}/{self.plan.epochs}"
        with tqdm(total=len(work), initial=self.progress.batch, desc=label, unit="batch",
                  mininterval=5, disable=not self.processes.is_first) as bar:
            while self.progress.batch < len(work) and not self._out_of_time():
                started = time.monotonic()
                done = (self.progress.epoch + self.progress.batch / len(work)) / self.plan.epochs
                total += self._step(*work[self.progress.batch], done)
                seen += 1
                self.progress.batch += 1
                self.progress.steps += 1
                # One clock, so that all processes end together.
                self.progress.seconds = self.processes.of_first(
                    self.progress.seconds + time.monotonic() - started)
                bar.update()
                bar.set_postfix(loss=f"{total / seen:.3f}", refresh=False)
                if time.monotonic() - saved > SAVE_SECONDS:
                    self._save()
                    saved = time.monotonic()
        if seen:
            self._check(*work[self.progress.batch - 1])
        return total / max(1, seen)

    def _check(self, inputs: torch.Tensor, labels: torch.Tensor) -> None:
        """Errors: InputError where weights, or the loss that they give, are no numbers. The loss of
        a step is that of the weights before it."""
        self.model.eval()
        with torch.no_grad():
            total = self.processes.sum(self._loss(inputs, labels).item())
        if not all(bool(value.isfinite().all()) for value in self.model.parameters()):
            total = math.nan
        self._refuse(total)

    def _refuse(self, loss: float) -> None:
        if not math.isfinite(loss):
            kept = "" if not self.progress.curve else "; what was kept before stays"
            raise InputError("--lr", "a rate by which the loss stays a number",
                             f"loss {loss} in epoch {self.progress.epoch + 1}{kept}")

    def _loss(self, inputs: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Loss of this process' rows of a batch; the sum over processes is the batch's."""
        count = max(1, int((labels[:, 1:] != IGNORED).sum()))
        inputs, labels = (self.processes.rows(part).to(self.device) for part in (inputs, labels))
        if not (labels[:, 1:] != IGNORED).any():
            return torch.zeros(())  # nothing that the loss counts
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.plan.autocast):
            logits, targets = self.predictions(inputs, labels)
        return functional.cross_entropy(logits.float(), targets, reduction="sum",
                                        label_smoothing=self.plan.label_smoothing) / count

    def _step(self, inputs: torch.Tensor, labels: torch.Tensor, done: float) -> float:
        self._set_rate(done)
        self.optimizer.zero_grad()
        loss = self._loss(inputs, labels)
        if loss.requires_grad:
            loss.backward()
        total = self.processes.sum(loss.item())
        self._refuse(total)
        self.processes.sum_gradients(self.model)
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.plan.clip)
        self.optimizer.step()
        return total

    def predictions(self, inputs: torch.Tensor, labels: torch.Tensor
                    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits of the tokens that the loss counts, and these tokens."""
        counted = labels[:, 1:] != IGNORED
        hidden = self.model.model(input_ids=inputs, use_cache=False).last_hidden_state
        return self.model.lm_head(hidden[:, :-1][counted]), labels[:, 1:][counted]

    def _set_rate(self, done: float) -> None:
        if self.plan.minutes > 0:
            done = max(done, self.progress.seconds / self.plan.training_seconds)
        if done < self.plan.warmup:
            factor = max(0.01, done / self.plan.warmup)
        else:
            share = min(1.0, max(0.0, (done - 1 + self.plan.decay) / self.plan.decay))
            factor = self.plan.floor + (1 - self.plan.floor) * (1 + math.cos(math.pi * share)) / 2
        for group in self.optimizer.param_groups:
            group["lr"] = self.plan.lr * factor

    def _validate(self, loss: float) -> None:
        started = time.monotonic()
        metrics = self.processes.of_first(
            self.validate(self.plan.validation_seconds) if self.processes.is_first else None)
        progress = self.progress
        progress.seconds = self.processes.of_first(progress.seconds + time.monotonic() - started)
        epoch = progress.epoch + (progress.batch > 0)
        progress.curve.append({"epoch": epoch, "minutes": progress.seconds / 60,
                               "loss": loss, **metrics})
        recall = metrics["recall@10"]
        # Differences within one standard error are noise: the later weights have learnt longer, and
        # the last ones at the lowest rate.
        better = recall >= progress.best - self.doubt(max(progress.best, 0.0))
        progress.since_best = 0 if better else progress.since_best + 1
        progress.best = max(progress.best, recall)
        if not self.processes.is_first:
            return
        if self.curves is not None:
            self.curves.add(progress.steps, {"train/loss": loss, **{
                f"validation/{name}": value for name, value in metrics.items()}})
        shown = "  ".join(f"{name} {value:.4f}" for name, value in metrics.items())
        tqdm.write(f"epoch {epoch:3d}  {progress.seconds / 60:5.1f} min  "
                   f"loss {loss:.4f}  {shown}{'  kept' if better else ''}")
        if better:
            self.best(progress)

    def _save(self) -> None:
        if not self.processes.is_first:
            return
        save_state(self.state_file, {
            "fingerprint": self.fingerprint, "progress": asdict(self.progress),
            "model": self.model.state_dict(), "optimizer": self.optimizer.state_dict(),
            "random": torch.get_rng_state()})

    def _resume(self) -> None:
        state: dict[str, Any] | None = load_state(self.state_file, self.fingerprint)
        if state is None:
            return
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        torch.set_rng_state(state["random"])
        self.progress = Progress(**state["progress"])
        if not self.processes.is_first:
            return
        tqdm.write(f"resumed at epoch {self.progress.epoch + 1}, batch {self.progress.batch}, "
                   f"{self.progress.seconds / 60:.1f} min so far")
