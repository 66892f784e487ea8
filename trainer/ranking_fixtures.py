"""`python -m trainer ranking-fixtures`: random heads and adapters with recorded answers.

Each folder is one to push, for a checkpoint of test/fixtures/parity; cases.json has prompts, items
behind them, and what transformers, PEFT and the heads say of each in double precision.
"""

import argparse
import json
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import AutoModelForCausalLM

from .adapter_fixtures import randomise, save_adapter
from .exact import in_double
from .heads import Attribute, Head, Ranking, read_ranking

PROMPT_LENGTHS = (7, 40)
ITEMS = 6
#: How far float32 may be from double precision: routers of experts choose alike.
SINGLE_TOLERANCE = 2e-5

ATTRIBUTES = [Attribute("price", "log1p", 2.1, 0.7, 0.25), Attribute("age", "log", 1.0, 1.5),
              Attribute("rank", "identity", 10.0, 4.0, -1.0)]


@dataclass(frozen=True)
class HeadPlan:
    """A head of random weights: sizes of its inner layers, and what follows them."""

    name: str
    hidden: tuple[int, ...] = ()
    hidden_activation: str = "gelu"
    activation: str = "sigmoid"
    calibration: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Fixture:
    """One pushed folder. `adapter`: PEFT's configuration; None: heads alone."""

    name: str
    model: str
    seed: int
    heads: list[HeadPlan]
    adapter: dict[str, Any] | None = None
    attributes: int = 0
    prefix: tuple[int, ...] = ()
    suffix: str = "none"  # or "one": the same of all; "each": of every item its own
    dtype: torch.dtype = torch.float32


def _isotonic(*knots: tuple[float, float]) -> dict[str, Any]:
    return {"isotonic": {"x": [x for x, _ in knots], "y": [y for _, y in knots]}}


ISOTONIC = _isotonic((0.01, 0.0), (0.2, 0.1), (0.5, 0.1), (0.9, 0.8))
ALL = "all-linear"
ATTENTION = ["k_proj", "o_proj", "q_proj", "v_proj"]

#: Tokens of an invocation are none of the levels': they begin an item, and occur in it once.
FIXTURES = [
    Fixture("qwen3-heads", "qwen3-tied", 41, [
        HeadPlan("click", calibration={"platt": [1.02, -0.3]}),
        HeadPlan("purchase", (8,), "gelu", calibration=ISOTONIC),
        HeadPlan("dwell", activation="identity")], attributes=3),
    Fixture("qwen3-ordinary", "qwen3-tied", 42, [
        HeadPlan("spend", (6,), "relu", "exp"), HeadPlan("plain")],
        {"r": 2, "lora_alpha": 4, "target_modules": ALL}, suffix="each", dtype=torch.bfloat16),
    Fixture("qwen3-activated", "qwen3-tied", 43, [
        HeadPlan("click", (5, 4), "tanh"), HeadPlan("wait", (), "gelu", "softplus")],
        {"r": 3, "lora_alpha": 6, "use_rslora": True, "target_modules": ALL,
         "alora_invocation_tokens": [90, 41]}, attributes=2, prefix=(90, 41), suffix="each"),
    Fixture("qwen3-5-ordinary", "qwen3-5-text", 47, [
        HeadPlan("click", (4,), "silu"), HeadPlan("dwell", activation="identity")],
        {"r": 2, "lora_alpha": 4, "target_modules": ALL}, attributes=1, suffix="each"),
    Fixture("llama-heads", "llama-llama3-rope", 44, [
        HeadPlan("click", (7, 3), "silu", calibration={"platt": [-0.8, 0.1]})],
        attributes=1, prefix=(77,), suffix="one", dtype=torch.float16),
    Fixture("llama-ordinary", "llama-llama3-rope", 45, [
        HeadPlan("a", (4,), "tanh", "identity", _isotonic((-1.0, -2.0), (0.5, 0.25), (3.0, 9.0))),
        HeadPlan("b", (), "gelu", "exp")],
        {"r": 2, "lora_alpha": 2, "target_modules": ["down_proj", "q_proj", "v_proj"]},
        prefix=(80, 55)),
    Fixture("llama-activated", "llama-llama3-rope", 46, [
        HeadPlan("click", (6,), "relu"),
        HeadPlan("like", (6,), "silu",
                 calibration=_isotonic((0.1, 0.0), (0.5, 0.3), (0.95, 1.0)))],
        {"r": 2, "lora_alpha": 6, "target_modules": ["down_proj", "gate_proj", "k_proj", "v_proj"],
         "alora_invocation_tokens": [99]}, prefix=(99, 62), suffix="one"),
    Fixture("moe-heads", "qwen3-moe", 47, [
        HeadPlan("click", (6,), "silu"), HeadPlan("cost", (3,), "gelu", "softplus")],
        attributes=3, suffix="each"),
    Fixture("moe-ordinary", "qwen3-moe", 48, [HeadPlan("click", (5,))],
            {"r": 2, "lora_alpha": 4, "target_modules": ["o_proj", "q_proj"],
             "target_parameters": ["mlp.experts.down_proj"]}, prefix=(60,)),
    Fixture("moe-activated", "qwen3-moe", 49, [
        HeadPlan("click"), HeadPlan("late", (9,), "tanh", calibration={"platt": [1.7, 0.4]})],
        {"r": 2, "lora_alpha": 4, "target_modules": ATTENTION,
         "alora_invocation_tokens": [70, 70, 45]}, attributes=1, prefix=(70, 70, 45)),
]


def run(args: argparse.Namespace) -> None:
    """Writes every folder, and the cases of all."""
    out = Path(args.out)
    cases = []
    for fixture in FIXTURES:
        cases += write_fixture(fixture, Path(args.models), out / fixture.name)
    (out / "cases.json").write_text(
        "[\n" + ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases) + "\n]\n")
    size = sum(path.stat().st_size for path in out.rglob("*"))
    print(f"{out}: {len(cases)} cases, {size / 1024:.0f} KiB")


def write_fixture(fixture: Fixture, models: Path, folder: Path) -> list[dict[str, Any]]:
    """The folder and its recorded cases."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    rng = np.random.default_rng(fixture.seed)
    if fixture.adapter is not None:
        model = get_peft_model(_base(models, fixture, torch.float32),
                               LoraConfig(task_type="CAUSAL_LM", **fixture.adapter))
        randomise(model, rng, 0)
        save_adapter(model, folder, fixture.model)
    exact, single = (_base(models, fixture, dtype) for dtype in (torch.float64, torch.float32))
    exact = in_double(exact)
    _heads(fixture, exact.config.hidden_size, rng).save(folder, fixture.dtype)
    if fixture.adapter is not None:
        exact = PeftModel.from_pretrained(exact, folder).double().eval()
        single = PeftModel.from_pretrained(single, folder).float().eval()
    sids = [json.loads(line)["sid"] for line in
            (models / fixture.model / "catalogue.jsonl").read_text().splitlines()]
    bases = json.loads((models / fixture.model / "cases.json").read_text())[0]["levelTokenBase"]
    return [_case(fixture, folder, (exact, single), sids, bases, length, rng)
            for length in PROMPT_LENGTHS]


def _base(models: Path, fixture: Fixture, dtype: torch.dtype):
    return AutoModelForCausalLM.from_pretrained(
        models / fixture.model, dtype=dtype, attn_implementation="eager",
        experts_implementation="eager").eval()


def _heads(fixture: Fixture, width: int, rng: np.random.Generator) -> Ranking:
    heads = []
    for plan in fixture.heads:
        sizes = [width + fixture.attributes, *plan.hidden, 1]
        layers = [(torch.tensor(rng.standard_normal((out, into)) / np.sqrt(into)).float(),
                   torch.tensor(0.3 * rng.standard_normal(out)).float())
                  for into, out in zip(sizes, sizes[1:])]
        heads.append(Head(plan.name, layers, plan.activation, plan.hidden_activation,
                          plan.calibration))
    return Ranking(fixture.name, heads, ATTRIBUTES[:fixture.attributes], max_item_tokens=16)


def _case(fixture: Fixture, folder: Path, models, sids: list[list[int]], bases: list[int],
          length: int, rng: np.random.Generator) -> dict[str, Any]:
    vocabulary = models[0].config.vocab_size
    free = [token for token in range(max(bases), vocabulary) if token not in fixture.prefix]
    prompt = [int(token) for token in rng.integers(3, vocabulary, size=length)]
    prompt[1:1 + len(fixture.prefix)] = fixture.prefix  # activates nothing there
    # In their order, so that some begin alike; the first one twice.
    first = int(rng.integers(len(sids) - ITEMS))
    chosen = [sids[first], *sids[first:first + 3], *sids[-2:]]
    suffixes = [[int(token) for token in rng.choice(free[len(free) // 2:], size)]
                for size in {"none": [0] * ITEMS, "one": [2] * ITEMS,
                             "each": [0, 3, 1, 1, 0, 5]}[fixture.suffix]]
    if fixture.suffix == "one":
        suffixes = suffixes[:1] * ITEMS
    items = [[*fixture.prefix, *(base + code for base, code in zip(bases, sid)), *suffix]
             for sid, suffix in zip(chosen, suffixes)]
    attributes = {one.name: _numbers(rng) for one in ATTRIBUTES[:fixture.attributes]}
    hidden, near = (_last_states(model, prompt, items) for model in models)
    ranking = read_ranking(folder)
    values = {name: np.array([np.nan if number is None else number for number in numbers])
              for name, numbers in attributes.items()}
    heads = ranking.answers(hidden, values)
    worst = max(np.abs(hidden - near).max(), *(
        np.abs(answers - heads[name]).max()
        for name, answers in ranking.answers(near, values).items()))
    if worst > SINGLE_TOLERANCE:
        raise RuntimeError(f"{fixture.name}: float32 is {worst} from double precision")
    return {"model": fixture.model, "ranking": folder.name,
            "adapter": folder.name if fixture.adapter else "", "promptTokens": prompt,
            "prefix": list(fixture.prefix), "sids": chosen, "suffixes": suffixes, "items": items,
            "attributes": attributes,
            "heads": {name: _rounded(answers) for name, answers in heads.items()},
            "hidden": [_rounded(row) for row in hidden]}


def _numbers(rng: np.random.Generator) -> list[float | None]:
    """Of each item; of one none, of one a number that no logarithm takes."""
    numbers: list[float | None] = [round(float(value), 3) for value in rng.gamma(2.0, 5.0, ITEMS)]
    numbers[int(rng.integers(ITEMS))] = None
    numbers[int(rng.integers(ITEMS))] = -3.5
    return numbers


def _last_states(model, prompt: list[int], items: list[list[int]]) -> np.ndarray:
    """Behind the final norm, of the last token of each item behind the prompt."""
    with torch.inference_mode():
        rows = [model(input_ids=torch.tensor([prompt + item]), output_hidden_states=True)
                .hidden_states[-1][0, -1] for item in items]
    return torch.stack(rows).double().numpy()


def _rounded(values: np.ndarray) -> list[float]:
    return [round(float(value), 7) for value in values]
