"""`python -m trainer rank`: exposures with outcomes in, a version that ranks out: heads, maybe with
an adapter, to push; and figures of the newest exposures beside baselines'."""

import argparse
import json
import sys
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM

from .checkpoint import whole_folder, write_atomically
from .errors import InputError
from .exposures import (Exposures, Slices, check_outcomes, parse_heads, read_exposures, read_facts,
                        slices)
from .finetune import digest_of, write_adapter
from .flags import amount, writable_folder
from .head_training import (HeadNetworks, HeadPlan, Targets, train_on_states, train_with_adapter,
                            with_calibration)
from .heads import FUNCTIONS, Attribute, Ranking
from .history import NO_SCENE, Users
from .item_states import (SID, Impression, ItemTemplate, Reader, catalogue_rows, reading_of,
                          readings)
from .prompts import PromptWriter, read_prompt_folder
from .rank_baselines import ItemRates, baseline_predictions
from .rank_figures import Figures, figures
from .sequences import read_users

ATTENTION = ["q_proj", "k_proj", "v_proj", "o_proj"]
FEED_FORWARD = ["gate_proj", "up_proj", "down_proj"]
SHOWN_FIGURES = {"auc": "AUC", "userAuc": "per-user AUC", "logLoss": "log loss",
                 "calibrationError": "calibration", "rmse": "RMSE"}


@dataclass(frozen=True)
class Task:
    """Exposures in slices, as prompts with items behind them."""

    exposures: Exposures
    slices: Slices
    item: ItemTemplate
    impressions: list[Impression]
    attributes: list[Attribute]
    values: dict[str, np.ndarray]  # of attributes, by row

    def of(self, rows: np.ndarray) -> list[Impression]:
        """Impressions of a slice: rows of one time are in one."""
        wanted = set(rows.tolist())
        return [one for one in self.impressions if int(one.rows[0]) in wanted]


def run(args: argparse.Namespace) -> None:
    """Reads, trains, calibrates, measures, saves; the folder appears when it is whole."""
    with redirect_stdout(sys.stderr if args.json else sys.stdout):
        task, found = make(args)
    tell(args, task, found)


def make(args: argparse.Namespace) -> tuple[Task, dict[str, dict[str, Figures]]]:
    """The folder, and figures of the test by head and predictor."""
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    if Path(args.out).exists():
        raise InputError(args.out, "a name that is free", "a file or folder")
    writable_folder(str(Path(args.out).parent))
    base = Path(args.model)
    if args.score and (args.adapter == "lora" or args.calibration == "isotonic"):
        raise InputError("--score", "no --adapter lora, whose recalls have other scores, and no "
                         "--calibration isotonic", f"{args.adapter}, {args.calibration}")
    task = read_task(args, base)
    model = AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32).eval()
    pad = model.config.pad_token_id or 0
    scores = recall_scores(Reader(model), task, pad)
    ranking, states, model = train(args, model, task, pad, scores)
    test = task.slices.test
    answers = ranking.answers(states[test].numpy(),
                              {name: of[test] for name, of in task.values.items()}, scores[test])
    with whole_folder(Path(args.out)) as partial:
        if args.adapter:
            write_adapter(model, base, partial)  # removes all other files
        ranking.save(partial)
    write_beside(args, task)
    return task, measure(task, answers, scores)


def read_task(args: argparse.Namespace, base: Path) -> Task:
    """Errors: InputError. Exposures that the service could not rank are left out, and printed."""
    prompts, rows = read_prompt_folder(base), catalogue_rows(base)
    if args.facts:
        if not args.heads:
            raise InputError("--heads", "names of heads beside --facts", None)
        exposures, users = read_facts(Path(args.facts), parse_heads(args.heads), args.impression)
    else:
        if not args.histories:
            raise InputError("--histories", "FILE.jsonl beside --exposures", None)
        exposures = read_exposures(Path(args.exposures))
        users = read_users(Path(args.histories))
    item = ItemTemplate(args.item, args.max_item_tokens, prompts, rows)
    if args.adapter == "activated" and not item.prefix:
        raise InputError("--item", f"text before {SID}, whose tokens activate the adapter",
                         args.item)
    # As the service has it: an item is read to its last token behind the prompt.
    positions = json.loads((base / "config.json").read_text())["max_position_embeddings"]
    prompts.tokens_max = min(prompts.tokens_max, positions - item.longest)
    exposures, impressions = readable(exposures, users, prompts, item)
    parts = slices(exposures, tuple(args.split))
    attributes, values = read_attributes(args, exposures, parts, rows)
    return Task(exposures, parts, item, impressions, attributes, values)


def readable(exposures: Exposures, users: Users, prompts: PromptWriter, item: ItemTemplate
             ) -> tuple[Exposures, list[Impression]]:
    """Exposures with a prompt, and their impressions. A history is what its user had done before
    the time of the exposure."""
    known = np.array([row for row, name in enumerate(exposures.items) if name in prompts.items])
    if len(known) < len(exposures):
        print(f"{len(exposures) - len(known)} exposures are of items that the catalogue lacks")
    exposures = exposures.only(known)
    kept, impressions, refused = [], [], 0
    for rows in exposures.impressions():
        name, moment = exposures.users[rows[0]], float(exposures.times[rows[0]])
        user = users.get(name)
        history = [] if user is None else [one for one in user.behaviours if one.time < moment]
        try:
            if not history:
                raise InputError("history", "a behaviour before the exposure", "none")
            scene = exposures.scenes.get((name, moment), NO_SCENE)
            prompt = prompts.prompt(user.profile, scene, history).tokens
        except InputError:
            refused += len(rows)
            continue
        place = sum(map(len, kept))
        kept.append(rows)
        impressions.append(Impression(prompt, [item.tokens(exposures.items[row]) for row in rows],
                                      np.arange(place, place + len(rows))))
    if refused:
        print(f"{refused} exposures have no prompt: nothing was done before, or it is refused")
    if not kept:
        raise InputError("exposures", "one with a history before it", "none")
    # Rows in the order of impressions.
    return exposures.only(np.concatenate(kept)), impressions


def read_attributes(args: argparse.Namespace, exposures: Exposures, parts: Slices,
                    rows: dict[str, dict]) -> tuple[list[Attribute], dict[str, np.ndarray]]:
    """Normalised over the training slice. Values by row, NaN where an item has no number."""
    values, functions = {}, {}
    for given in args.attributes:
        name, _, function = given.partition(":")
        if function and function not in FUNCTIONS:
            raise InputError("--attributes", f"a function of {', '.join(FUNCTIONS)}", given)
        functions[name] = function or "identity"
        numbers = {item: row.get("attributes", {}).get(name) for item, row in rows.items()}
        values[name] = np.array([_number(numbers[item]) for item in exposures.items])
    if args.rates:
        for head in exposures.labels:
            for name, function, of in zip(rate_names(head), ("identity", "log1p"),
                                          ItemRates(exposures, parts, head).of_rows(), strict=True):
                functions[name], values[name] = function, of
    attributes = []
    for name, of in values.items():
        with np.errstate(invalid="ignore", divide="ignore"):
            found = FUNCTIONS[functions[name]](of[parts.train])
        found = found[np.isfinite(found)]
        if len(found) == 0:
            raise InputError("--attributes", f"a number {name} of some item", "none")
        attributes.append(Attribute(name, functions[name], float(found.mean()),
                                    float(found.std()) or 1.0))
    return attributes, values


def rate_names(head: str) -> tuple[str, str]:
    """Attributes: rate of an item, and how many of 10,000 exposures were of it."""
    return f"rate_{head}", f"shown_{head}"


def _number(value: object) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number else np.nan


@torch.no_grad()
def states_of(reader: Reader, task: Task, pad: int) -> torch.Tensor:
    found = None
    for reading in readings(task.impressions, pad):
        states = reader.last_states(reading)
        if found is None:
            found = torch.zeros(len(task.exposures), states.shape[1])
        found[torch.from_numpy(reading.rows)] = states
    return found


@torch.no_grad()
def recall_scores(reader: Reader, task: Task, pad: int) -> np.ndarray:
    """Of the model alone, by row: log-probabilities of SIDs behind the prompts."""
    items = task.item.writer.items
    found = np.full(len(task.exposures), np.nan)
    alone = [Impression(one.prompt,
                        [list(items[task.exposures.items[row]].tokens) for row in one.rows],
                        one.rows) for one in task.impressions]
    for reading in readings(alone, pad):
        sids = [sid for one in reading.impressions for sid in one.items]
        found[reading.rows] = reader.recall_scores(reading, sids).numpy()
    return found


def train(args: argparse.Namespace, model, task: Task, pad: int, scores: np.ndarray
          ) -> tuple[Ranking, torch.Tensor, object]:
    """The version, states of all rows as it reads them, and the model with its adapter. `scores`:
    of the model alone."""
    names = list(task.exposures.labels)
    targets, scales = targets_of(args, task, scores)
    plan = HeadPlan(tuple(args.hidden), args.hidden_activation, args.epochs, args.patience,
                    args.lr, args.dropout, args.weight_decay, args.seed)
    parts = task.slices
    states = None
    if args.adapter:
        model = with_factors(args, model, task)
        reader = Reader(model, args.adapter)
        by_slice = {"train": task.of(parts.train), "calibration": task.of(parts.calibration)}
        first = first_states(reader, by_slice["train"], targets, pad)
        networks, curve = train_with_adapter(reader, by_slice, pad, first, targets, names, plan)
        states = states_of(reader, task, pad)
    else:
        states = states_of(Reader(model), task, pad)
        networks, curve = train_on_states(states, targets, parts.train, parts.calibration, names,
                                          plan)
    print(f"loss of the calibration slice by epoch: {' '.join(f'{one:.4f}' for one in curve)}")
    return calibrate(args, networks, targets, scales, task, states, scores), states, model


def targets_of(args: argparse.Namespace, task: Task, scores: np.ndarray
               ) -> tuple[Targets, dict[str, tuple[float, float]]]:
    """Labels that are no outcomes of 0 or 1 are scaled by the training slice. A row weighs its
    weight over its propensity, which counts as --propensity-min where it is less."""
    exposures, train = task.exposures, task.slices.train
    labels, scales = {}, {}
    weights = torch.tensor(exposures.weights / _shares(args, exposures), dtype=torch.float32)
    check_outcomes(exposures, task.slices, weights.numpy())
    binary = {name: exposures.is_binary(name) for name in exposures.labels}
    for name, label in exposures.labels.items():
        if not binary[name]:
            known = label[train][~np.isnan(label[train])]
            scales[name] = (float(known.mean()), float(known.std()) or 1.0)
            label = (label - scales[name][0]) / scales[name][1]
        labels[name] = torch.tensor(label, dtype=torch.float32)
    attributes = np.zeros((len(exposures), 0)) if not task.attributes else np.column_stack(
        [one.inputs(task.values[one.name]) for one in task.attributes])
    return Targets(torch.tensor(attributes, dtype=torch.float32), labels, binary, weights,
                   head_weights(args.head_weights, list(labels)),
                   torch.tensor(scores, dtype=torch.float32) if args.score else None), scales


def _shares(args: argparse.Namespace, exposures: Exposures) -> np.ndarray:
    return np.where(np.isnan(exposures.propensities), 1.0,
                    np.maximum(exposures.propensities, args.propensity_min))


def head_weights(given: list[str], names: list[str]) -> dict[str, float]:
    """Weights of --head-weights, 1 where it says nothing. Errors: InputError."""
    found = dict.fromkeys(names, 1.0)
    for text in given:
        name, _, weight = text.partition("=")
        if name not in found:
            raise InputError("--head-weights", f"heads of {', '.join(names)}", text)
        try:
            found[name] = amount(weight)
        except (ValueError, argparse.ArgumentTypeError) as error:
            raise InputError("--head-weights", "NAME=WEIGHT, 0 or more", text) from error
    if not any(found.values()):
        raise InputError("--head-weights", "a head that weighs more than 0", given)
    return found


def with_factors(args: argparse.Namespace, model, task: Task):
    """PEFT activates factors from the tokens before {sid} on; a mixture has them on its attention
    alone, since PEFT activates none on experts."""
    is_mixture = hasattr(model.config, "num_experts")
    invocation = task.item.prefix if args.adapter == "activated" else None
    return get_peft_model(model, LoraConfig(
        task_type="CAUSAL_LM", r=args.lora_rank, lora_alpha=2 * args.lora_rank,
        target_modules=ATTENTION if is_mixture else ATTENTION + FEED_FORWARD,
        alora_invocation_tokens=invocation)).eval()


@torch.no_grad()
def first_states(reader: Reader, impressions: list[Impression], targets: Targets, pad: int
                 ) -> torch.Tensor:
    """Inputs of heads for some rows, as factors that are 0 leave them."""
    chosen = np.random.default_rng(1).permutation(len(impressions))[:64]
    reading = reading_of([impressions[place] for place in chosen], pad)
    return torch.cat([reader.last_states(reading), targets.attributes[reading.rows]], 1)


def calibrate(args: argparse.Namespace, networks: HeadNetworks, targets: Targets, scales,
              task: Task, states: torch.Tensor, scores: np.ndarray) -> Ranking:
    later = task.slices.calibration
    plain = Ranking(args.name, networks.heads(targets, scales), task.attributes, task.item.text,
                    task.item.tokens_max, digest_of(Path(args.model)))
    raw = plain.answers(states[later].numpy(), {name: of[later]
                                                for name, of in task.values.items()},
                        scores[later])
    users = [task.exposures.users[row] for row in later]
    heads = [with_calibration(head, args.calibration, raw[head.name],
                              task.exposures.labels[head.name][later], users)
             for head in plain.heads]
    return Ranking(plain.name, heads, plain.attributes, plain.item, plain.max_item_tokens,
                   plain.model)


def measure(task: Task, answers: dict[str, np.ndarray], scores: np.ndarray
            ) -> dict[str, dict[str, Figures]]:
    """Figures of the test by head, and by predictor."""
    test = task.slices.test
    users = [task.exposures.users[row] for row in test]
    attributes = np.column_stack([np.zeros((len(task.exposures), 0)),
                                  *(one.inputs(task.values[one.name]) for one in task.attributes)])
    found = {}
    for head, predicted in answers.items():
        label = task.exposures.labels[head][test]
        others = baseline_predictions(task.exposures, task.slices, head, attributes, scores)
        found[head] = {"heads": figures(label, predicted.astype(np.float32), users),
                       **{name: figures(label, one, users) for name, one in others.items()}}
    return found


def write_beside(args: argparse.Namespace, task: Task) -> None:
    """The catalogue with its items' rates, and the exposures of the test for
    `npm run evaluate -- --rank`."""
    exposures, test = task.exposures, task.slices.test
    if args.rates:
        rows = {item: dict(row) for item, row in task.item.rows.items()}
        for head in exposures.labels:
            found = ItemRates(exposures, task.slices, head).by_item()
            for item, row in rows.items():
                own = zip(rate_names(head), found.get(item, (np.nan, 0.0)), strict=True)
                row["attributes"] = {**row.get("attributes", {}),
                                     **{name: of for name, of in own if not np.isnan(of)}}
        write_atomically(Path(args.rates), "".join(
            json.dumps(row, ensure_ascii=False) + "\n" for row in rows.values()).encode())
    if args.test_out:
        heads = list(exposures.labels)
        lines = ["\t".join(["user", "time", "item", *heads])]
        for row in test:
            labels = (exposures.labels[head][row] for head in heads)
            lines.append("\t".join([exposures.users[row], f"{exposures.times[row]:.0f}",
                                    exposures.items[row],
                                    *("" if np.isnan(one) else f"{one:g}" for one in labels)]))
        write_atomically(Path(args.test_out), ("\n".join(lines) + "\n").encode())


def tell(args: argparse.Namespace, task: Task, found: dict[str, dict[str, Figures]]) -> None:
    parts = task.slices
    if args.json:
        print(json.dumps({
            "rows": len(parts.test), "trainRows": len(parts.train),
            "calibrationRows": len(parts.calibration), "calibrationFrom": parts.second,
            "testFrom": parts.last,
            "heads": {head: of["heads"].as_json() for head, of in found.items()},
            "baselines": {head: {name: one.as_json() for name, one in of.items()
                                 if name != "heads"} for head, of in found.items()}}))
        return
    print(f"trained on {len(parts.train)} exposures before {parts.second:.0f}, epoch and "
          f"calibration of {len(parts.calibration)} before {parts.last:.0f}, tested on "
          f"{len(parts.test)} from then on")
    for head, of in found.items():
        print(f"\n{head:<20}" + "".join(f"{name:>14}" for name in SHOWN_FIGURES.values()))
        for name, one in of.items():
            cells = (getattr(one, key) for key in SHOWN_FIGURES)
            print(f"{name:<20}" + "".join(
                f"{'-':>14}" if cell is None else f"{cell:>14.6f}" for cell in cells))
    print(f"\n{args.out}: to push under the name ranking")
