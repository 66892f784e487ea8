"""Trains and weighs versions: LoRA factors that go on from those of the version before."""

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from peft import LoraConfig, PeftModel, get_peft_model
from torch.nn import functional
from transformers import AutoModelForCausalLM
from transformers.utils.logging import disable_progress_bar

from ..checkpoint import whole_folder, write_json
from ..devices import device_of
from ..errors import InputError
from ..finetune import SAVED
from ..prompts import PromptItem, PromptWriter, level_token, read_prompt_folder
from ..samples import Row, padded
from .choice import Sample
from .chances import Chances, fit
from .gate import Losses
from .gateway import LiveItem
from .heads import train_heads
from .labels import Labelled
from .liking import children, factors

#: Rows of a batch that only weighs.
WEIGH_ROWS = 128
#: Rows that the chances of a training are fitted to: three numbers need no more.
FITTED_ROWS = 1500
#: Rows that the corrected base is learned on, which says as much in each of them; the correction is
#: of all samples.
TAUGHT_ROWS = 2000


@dataclass(frozen=True)
class Plan:
    """How a version is trained; `rank`: of the factors of the first one."""

    rank: int = 16
    epochs: int = 2
    batch_size: int = 64
    lr: float = 2e-3


class Progress(Protocol):
    """`Beat`, where somebody listens."""

    def begin(self) -> None: ...
    def tell(self, done: str) -> None: ...


class Learner:
    """One base model in memory at a time. `progress`: told of each batch."""

    def __init__(self, base: Path, plan: Plan, device: str = "cpu",
                 progress: Progress | None = None) -> None:
        self.base, self.plan, self.progress = base, plan, progress
        self.device = device_of(device)
        self.writer = read_prompt_folder(base)
        disable_progress_bar()

    def use_items(self, live: Mapping[str, LiveItem]) -> None:
        """Prompts show these items, and answers are among them; those whose codes have no tokens
        are left out, as in histories that are served."""
        writer = self.writer
        items = {}
        for name, item in live.items():
            tokens = [level_token(form, code, writer.tokenizer)
                      for form, code in zip(writer.template.levels, item.sid, strict=False)]
            if all(token is not None for token in tokens):
                domain = json.loads(item.attributes or "{}").get("domain", "")
                items[name] = PromptItem(tuple(tokens), domain if isinstance(domain, str) else "")
        self.writer = PromptWriter(writer.template, writer.tokenizer, items, writer.tokens_max,
                                   writer.anchor)

    def train(self, parent: Path | None, samples: Sequence[Sample], seed: int, out: Path,
              labelled: Sequence[Labelled] = ()) -> dict[str, Any] | None:
        """Writes the next version's folder, which appears when it is whole, with heads where there
        are samples for them. Returns figures, or None without a sample that has a prompt."""
        torch.manual_seed(seed)
        self._begin()
        if not any(self.split([sample])[0] for sample in samples):
            return None
        model = self.open(parent, trains=True)
        figures = self.fit(model, samples, seed, teaches=True)
        shutil.rmtree(out, ignore_errors=True)
        with whole_folder(out) as partial:
            # PEFT would ask a hub for the base's vocabulary, to see whether it has grown.
            model.save_pretrained(partial, save_embedding_layers=False)
            _tidy(partial, self.base)
            if labelled:
                kept, rows = self.split(labelled)
                train_heads(kept, self._states(model, rows), seed).save(partial)
        return figures | {"largest_norm": largest_norm(model)}

    def fit(self, model, samples: Sequence[Sample], seed: int,
            teaches: bool = False) -> dict[str, Any]:
        """Trains what learns of a model; of factors, where items that were not taken are known, by
        the base model as `liking` corrects it. Returns figures."""
        samples, rows = self.split(samples)
        if teaches and not all(sample.taken for sample in samples):
            return self._taught(model, samples, rows, seed)
        some = np.random.default_rng(seed).permutation(len(rows))[:FITTED_ROWS]
        chances = fit(self._scores(model, [rows[one] for one in some]),
                      [samples[one] for one in some])
        first, last = self._steps(model, rows, samples, chances, seed)
        return {"rows": len(rows), "loss_first": first, "loss_last": last,
                "scale": round(chances.scale, 3)}

    def weigh(self, parent: Path | None, candidate: Path, samples: Sequence[Sample]) -> Losses:
        """Losses of the base model, of the version before and of the candidate."""
        self._begin()
        samples, _ = self.split(samples)
        base = self.losses(self.open(None), samples)
        before = base if parent is None else self.losses(self.open(parent), samples)
        after = self.losses(self.open(candidate), samples)
        return Losses([sample.example.user for sample in samples], base, before, after,
                      sum(sample.taken for sample in samples))

    def losses(self, model, samples: Sequence[Sample]) -> np.ndarray:
        """Of samples that all have a prompt."""
        samples, rows = self.split(samples)
        scores = self._scores(model, rows)
        return fit(scores, samples).losses(scores, samples)

    def split(self, samples: Sequence[Sample]) -> tuple[list[Sample], list[Row]]:
        """Those whose prompt the service would not have refused, and their rows."""
        kept, rows = [], []
        for sample in samples:
            answer = sample.example.answer
            if answer.item not in self.writer.items:
                continue
            try:
                row, _ = self.writer.row({}, sample.example.history, answer, lambda _: False)
            except InputError:
                continue
            kept.append(sample)
            rows.append(row)
        return kept, rows

    def open(self, folder: Path | None, trains: bool = False):
        """The base model with a version, or alone."""
        base = AutoModelForCausalLM.from_pretrained(self.base, dtype=torch.float32)
        if folder is not None:
            model = PeftModel.from_pretrained(base, folder, is_trainable=trains)
        elif trains:
            model = get_peft_model(base, LoraConfig(
                task_type="CAUSAL_LM", r=self.plan.rank, lora_alpha=2 * self.plan.rank,
                target_modules="all-linear"))
        else:
            model = base
        return model.to(self.device).eval()

    def _begin(self) -> None:
        if self.progress is not None:
            self.progress.begin()

    def _tell(self, done: str) -> None:
        if self.progress is not None:
            self.progress.tell(done)

    @torch.no_grad()
    def _scores(self, model, rows: Sequence[Row]) -> np.ndarray:
        """Of each row the sum of its answer's log-probabilities, as the service scores."""
        found = np.zeros(len(rows))
        order = np.argsort([len(row.tokens) for row in rows], kind="stable")
        for begin in range(0, len(order), WEIGH_ROWS):
            places = order[begin:begin + WEIGH_ROWS]
            found[places] = self._score(model, [rows[place] for place in places]).cpu().numpy()
            self._tell(f"scores: {begin + len(places)} of {len(rows)} rows")
        return found

    @torch.no_grad()
    def _states(self, model, rows: Sequence[Row]) -> torch.Tensor:
        """Of the last token of each row."""
        found: list[torch.Tensor] = [torch.zeros(0)] * len(rows)
        order = np.argsort([len(row.tokens) for row in rows], kind="stable")
        whole = model.get_base_model()
        for begin in range(0, len(order), WEIGH_ROWS):
            places = order[begin:begin + WEIGH_ROWS]
            inputs, _ = padded([rows[place] for place in places], 0)
            hidden = whole.model(input_ids=inputs.to(self.device)).last_hidden_state
            for number, place in enumerate(places):
                found[place] = hidden[number, len(rows[place].tokens) - 1].float().cpu()
        return torch.stack(found)

    def _answers(self, rows: Sequence[Row]) -> tuple[torch.Tensor, torch.Tensor]:
        """Row and place of the token before each token of an answer, and that token."""
        places, wanted = [], []
        for number, row in enumerate(rows):
            for place, counts in enumerate(row.counted):
                if counts:
                    places.append((number, place - 1))
                    wanted.append(row.tokens[place])
        return torch.tensor(places).to(self.device), torch.tensor(wanted).to(self.device)

    def _logits(self, model, rows: Sequence[Row], at: torch.Tensor) -> torch.Tensor:
        """Of some places alone: those of a prompt would be most of the work."""
        inputs, _ = padded(list(rows), 0)
        whole = model.get_base_model() if isinstance(model, PeftModel) else model
        hidden = whole.model(input_ids=inputs.to(self.device)).last_hidden_state
        return whole.get_output_embeddings()(hidden[at[:, 0], at[:, 1]]).float()

    def _score(self, model, rows: Sequence[Row]) -> torch.Tensor:
        at, wanted = self._answers(rows)
        each = -functional.cross_entropy(self._logits(model, rows, at), wanted, reduction="none")
        return torch.zeros(len(rows), device=self.device).index_add(0, at[:, 0], each)

    def _taught(self, model, samples: Sequence[Sample], rows: Sequence[Row],
                seed: int) -> dict[str, Any]:
        paths = [tuple(token for token, counts in zip(row.tokens, row.counted, strict=True)
                       if counts) for row in rows]
        with model.disable_adapter():
            scores = self._scores(model, rows)
        found = factors(samples, scores, paths)
        below = children(found)

        some = np.random.default_rng(seed).permutation(len(rows))[:TAUGHT_ROWS]

        def loss(places: np.ndarray) -> torch.Tensor:
            chosen = some[places]
            return self._distance(model, [rows[place] for place in chosen],
                                  [paths[place] for place in chosen], below)

        first, last = self._epochs(model, [rows[place] for place in some], loss, seed, [])
        spread = float(np.std([np.log(one) for path, one in found.items() if path]))
        return {"rows": len(rows), "loss_first": first, "loss_last": last, "spread": spread}

    def _distance(self, model, rows: Sequence[Row], paths: Sequence[tuple[int, ...]],
                  below: Mapping[tuple[int, ...], list[tuple[int, float]]]) -> torch.Tensor:
        """Mean Kullback-Leibler divergence of a token of an answer from the corrected base."""
        places, _ = self._answers(rows)
        with torch.no_grad(), model.disable_adapter():
            teacher = self._logits(model, rows, places)
        at, tokens, more = [], [], []
        number = 0
        for path in paths:
            for depth in range(len(path)):
                for token, value in below.get(path[:depth], ()):
                    at.append(number)
                    tokens.append(token)
                    more.append(value)
                number += 1
        added = torch.zeros_like(teacher)
        added[at, tokens] = torch.tensor(more, dtype=torch.float32, device=self.device)
        logits = self._logits(model, rows, places).log_softmax(-1)
        return functional.kl_div(logits, (teacher + added).log_softmax(-1), log_target=True,
                                 reduction="batchmean")

    def _steps(self, model, rows: Sequence[Row], samples: Sequence[Sample], chances: Chances,
               seed: int) -> tuple[float, float]:
        shift = torch.nn.Parameter(torch.tensor(chances.shift, device=self.device))
        usual = float(np.mean([sample.weight for sample in samples]))

        def loss(places: np.ndarray) -> torch.Tensor:
            scores = self._score(model, [rows[place] for place in places])
            return chances.loss(scores, shift, [samples[place] for place in places]) / usual

        return self._epochs(model, rows, loss, seed, [{"params": [shift], "lr": 0.02}])

    def _epochs(self, model, rows: Sequence[Row], loss_of: Callable[[np.ndarray], torch.Tensor],
                seed: int, others: list[dict[str, Any]]) -> tuple[float, float]:
        """Mean loss of the first epoch and of the last. `others`: groups that learn beside."""
        learns = [value for value in model.parameters() if value.requires_grad]
        optimizer = torch.optim.AdamW([{"params": learns}, *others], lr=self.plan.lr,
                                      weight_decay=0.0)
        rng = np.random.default_rng(seed)
        lengths = np.array([len(row.tokens) for row in rows])
        losses, step = [], 0
        model.train()
        for _ in range(self.plan.epochs):
            order = np.lexsort((rng.random(len(rows)), lengths))
            size = self.plan.batch_size
            groups = [order[begin:begin + size] for begin in range(0, len(order), size)]
            total = 0.0
            for group in rng.permutation(len(groups)):
                loss = loss_of(groups[group])
                optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(learns, 1.0)
                optimizer.step()
                total += float(loss.detach())
                step += 1
                self._tell(f"trains: step {step}, loss {float(loss.detach()):.4f}")
            losses.append(total / len(groups))
        model.eval()
        return losses[0], losses[-1]


@torch.no_grad()
def largest_norm(model) -> float:
    """Largest Frobenius norm of scale x B x A; not a number where a factor is none."""
    norms = [0.0]
    for module in model.modules():
        for name in getattr(module, "lora_A", {}):
            product = module.lora_B[name].weight @ module.lora_A[name].weight
            norms.append(float((module.scaling[name] * product).norm()))
    return float(np.max(norms))


def _tidy(folder: Path, base: Path) -> None:
    """Leaves the files of PEFT alone. The push names the digest of the base model."""
    for path in folder.iterdir():
        if path.name not in SAVED:
            path.unlink()
    config = json.loads((folder / SAVED[0]).read_text())
    config["base_model_name_or_path"] = base.name
    if isinstance(config["target_modules"], list):
        config["target_modules"].sort()
    write_json(folder / SAVED[0], config)
