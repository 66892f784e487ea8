"""Ranking: states of items behind prompts, heads, figures, and what exposures are refused."""

import json
from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
import pytest
import torch
from peft import PeftModel
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM

from trainer.__main__ import main
from trainer.errors import InputError
from trainer.exposures import Exposures, check_outcomes, read_exposures, read_facts, slices
from trainer.head_training import HeadPlan, Targets, calibration_of, train_on_states
from trainer.heads import Attribute, calibrated, read_ranking
from trainer.item_states import Impression, Reader, reading_of
from trainer.rank import head_weights
from trainer.rank_baselines import ItemRates, user_rates
from trainer.rank_figures import figures

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "test" / "fixtures"
CASES = json.loads((FIXTURES / "ranking" / "cases.json").read_text())


@pytest.mark.parametrize(("name", "adapter"), [
    ("qwen3-heads", ""), ("qwen3-activated", "activated"), ("llama-ordinary", "lora")])
def test_items_of_shared_prompts_have_the_states_and_answers_of_each_read_alone(name, adapter):
    cases = [case for case in CASES if case["ranking"] == name]
    model = AutoModelForCausalLM.from_pretrained(FIXTURES / "parity" / cases[0]["model"],
                                                 dtype=torch.float64).eval()
    if adapter:
        model = PeftModel.from_pretrained(model, FIXTURES / "ranking" / name).double().eval()
    impressions = [Impression(case["promptTokens"], case["items"], np.arange(6)) for case in cases]
    with torch.no_grad():
        states = Reader(model, adapter).last_states(reading_of(impressions, 0)).numpy()
    np.testing.assert_allclose(states, np.concatenate([case["hidden"] for case in cases]),
                               atol=1e-5)
    values = {attribute: np.array([np.nan if number is None else number for case in cases
                                   for number in case["attributes"][attribute]])
              for attribute in cases[0]["attributes"]}
    for head, answers in read_ranking(FIXTURES / "ranking" / name).answers(states, values).items():
        np.testing.assert_allclose(
            answers, np.concatenate([case["heads"][head] for case in cases]), atol=1e-4)


def test_an_attribute_without_a_number_is_its_default():
    attribute = Attribute("price", "log", 1.0, 2.0, -7.0)
    np.testing.assert_allclose(attribute.inputs(np.array([np.e ** 5, np.nan, 0.0, -1.0])),
                               [2.0, -7.0, -7.0, -7.0])


def test_figures_are_those_of_their_definitions():
    label = np.array([1, 0, 1, 0, 1, np.nan])
    answer = np.array([0.9, 0.2, 0.6, 0.6, 0.1, 0.5])
    found = figures(label, answer, list("aabbba"))
    assert (found.rows, found.skipped, found.users) == (5, 1, 2)
    # Pairs: 0.9 over both; 0.6 over 0.2, tied with 0.6; 0.1 over none.
    assert found.auc == pytest.approx(3.5 / 6)
    assert found.userAuc == pytest.approx((2 * 1.0 + 3 * 0.25) / 5)
    assert found.logLoss == pytest.approx(-np.log([0.9, 0.8, 0.6, 0.4, 0.1]).mean())
    assert found.calibrationError == pytest.approx(np.abs(answer - label)[:5].mean())
    numbers = figures(np.array([1.5, 0]), np.array([1.0, 0]), ["a", "a"])
    assert numbers.auc is None and numbers.rmse == pytest.approx(0.5 / 2 ** 0.5)


def test_calibration_finds_back_a_distorted_chance():
    rng = np.random.default_rng(1)
    chance = rng.random(20_000)
    label = (rng.random(20_000) < chance).astype(np.float64)
    distorted = chance ** 3 / (chance ** 3 + (1 - chance) ** 3)
    platt = calibration_of("platt", distorted, label)
    assert platt["platt"] == pytest.approx([1 / 3, 0], abs=0.03)
    for found in (platt, calibration_of("isotonic", distorted, label)):
        assert np.abs(calibrated(distorted, found) - chance).mean() < 0.02
    knots = calibration_of("isotonic", distorted, np.zeros(20_000) + (distorted > 0.5))["isotonic"]
    assert min(knots["y"]) > 0 and max(knots["y"]) < 1
    assert calibration_of("platt", distorted, np.zeros(20_000)) == {}


def exposures(count: int, users: int) -> Exposures:
    rng = np.random.default_rng(2)
    return Exposures([f"u{row % users}" for row in range(count)], np.arange(count, dtype=float),
                     [f"i{number}" for number in rng.integers(5, size=count)],
                     {"click": rng.integers(2, size=count).astype(float)}, np.ones(count),
                     np.full(count, np.nan))


@pytest.mark.parametrize(("labels", "weights", "told"), [
    ([0, 0, 0, 1], [1, 1, 1, 1], "click: expected outcomes that vary in the training slice"),
    ([0, 1, 0, 1], [1, 0, 1, 1], "got '0 alone'"),
    ([0, 1, 0, 1], [0, 0, 1, 1], "an outcome that weighs in the training slice"),
    ([0, 1, 0, 1], [1, 1, 0, 1], "an outcome that weighs in the calibration slice"),
    ([np.nan, np.nan, 0, 1], [1, 1, 1, 1], "an outcome that weighs")])
def test_outcomes_that_teach_nothing_are_refused(labels, weights, told):
    found = Exposures(list("abcd"), np.arange(4.0), list("xxxx"),
                      {"click": np.array(labels, float)}, np.array(weights, float),
                      np.full(4, np.nan))
    parts = slices(found, (0.5, 0.75))
    with pytest.raises(InputError, match=told):
        check_outcomes(found, parts, found.weights)
    check_outcomes(exposures(200, 20), slices(exposures(200, 20), (0.6, 0.8)), np.ones(200))


@pytest.mark.parametrize("given", [["click=x"], ["click"], ["click=nan"], ["click=-1"], ["buy=1"],
                                   ["click=0"]])
def test_weights_of_heads_that_are_none_are_refused(given):
    with pytest.raises(InputError, match="--head-weights"):
        head_weights(given, ["click"])
    assert head_weights(["click=2"], ["click", "buy"]) == {"click": 2.0, "buy": 1.0}


def test_rates_know_neither_a_rows_own_outcome_nor_a_later_one():
    plain = exposures(200, 20)
    parts = slices(plain, (0.6, 0.8))
    before = ItemRates(plain, parts, "click").of_rows()[0]
    for row, first in ((3, 0), (130, 160), (170, 200)):  # of each slice; first that may know it
        turned = plain.labels["click"].copy()
        turned[row] = 1 - turned[row]
        other = Exposures(plain.users, plain.times, plain.items, {"click": turned}, plain.weights,
                          plain.propensities)
        changed = np.flatnonzero(ItemRates(other, parts, "click").of_rows()[0] != before)
        assert row not in changed and (changed >= first).all()
        rates = [user_rates(of, of.labels["click"], 0.5) for of in (plain, other)]
        assert (rates[0] == rates[1])[:row + 1].all()


@pytest.mark.parametrize(("text", "told"), [
    ("user\ttime\tclick\n", "columns user, time and item"),
    ("user\ttime\titem\n", "a column for each head"),
    ("user\ttime\titem\tclick\na\t1\tx\n", "4 columns"),
    ("user\ttime\titem\tclick\na\t1\tx\tyes\n", "line 2: click: expected a number"),
    ("user\ttime\titem\tclick\na\t\tx\t1\n", "line 2: time: expected a number"),
    ("user\ttime\titem\tclick\tweight\na\t1\tx\t1\t-1\n", "weight: expected 0 or more"),
    ("user\ttime\titem\tclick\tpropensity\na\t1\tx\t1\t0\n", "propensity: expected more than 0"),
    ("user\ttime\titem\tclick\na\t1\tx\t1e300\n", "line 2: click: expected at most 1e.15"),
    ("user\ttime\titem\tclick\tweight\na\t1\tx\t1\t1e300\n", "line 2: weight: expected 0"),
    ("user\ttime\titem\tclick\n", "an exposure")])
def test_exposures_that_are_none_are_refused(tmp_path, text, told):
    path = tmp_path / "exposures.tsv"
    path.write_text(text)
    with pytest.raises(InputError, match=told):
        read_exposures(path)


def test_facts_are_impressions_with_their_outcomes(tmp_path):
    for table in ("behaviour", "recall_fact"):
        (tmp_path / table).mkdir()
    duckdb.sql("""COPY (SELECT * FROM (VALUES
        (TIMESTAMP '2026-01-01 00:00:01', 7::UBIGINT, 'x', 'click', ''),
        (TIMESTAMP '2026-01-01 00:01:00', 7, 'x', 'impression', 'r'),
        (TIMESTAMP '2026-01-01 00:01:01', 7, 'y', 'impression', 'r'),
        (TIMESTAMP '2026-01-01 00:01:02', 7, 'y', 'order', 'r'))
        t(time, user_hash, item_id, action, request_id),
        (SELECT MAP {'page': 'home'} AS scene)) TO '%s'""" % (tmp_path / "behaviour/a.parquet"))
    duckdb.sql("""COPY (SELECT TIMESTAMP '2026-01-01 00:00:59' AS time, 'r' AS request_id,
        7::UBIGINT AS user_hash, ['x', 'y'] AS item_ids, [0.5, 0.25]::FLOAT[] AS propensities,
        'OK' AS code, MAP {'page': 'home'} AS scene) TO '%s'"""
               % (tmp_path / "recall_fact/a.parquet"))
    found, users = read_facts(tmp_path, {"click": ["click"], "buy": ["buy", "order"]}, "impression")
    assert (found.users, found.items) == (["7", "7"], ["x", "y"])
    assert found.labels["buy"].tolist() == [0.0, 1.0] and not found.labels["click"].any()
    assert found.propensities.tolist() == [0.5, 0.25]
    assert found.times[0] - users["7"].behaviours[0].time == 58
    assert found.scenes["7", found.times[0]] == {"page": "home"}
    with pytest.raises(InputError, match="behaviour"):
        read_facts(tmp_path / "none", {}, "impression")


def demo_run(folder: Path, monkeypatch, *flags: str) -> int:
    """`trainer rank` of 60 users of the demo, who click ads of two categories alone."""
    rng = np.random.default_rng(3)
    users = json.loads((ROOT / "models/demo/users.json").read_text())
    with (folder / "histories.jsonl").open("w") as histories, (
            folder / "exposures.tsv").open("w") as shown:
        shown.write("user\ttime\titem\tclick\tdwell\tpropensity\n")
        for name, user in list(users.items())[:60]:
            done = user["behaviours"]
            histories.write(json.dumps({
                "user": name, "history": [one["item_id"] for one in done],
                "times": [one["time"] for one in done]}) + "\n")
            moment = done[-1]["time"] + 1 + int(rng.integers(1000))
            for item in rng.choice(600, 6, replace=False) + 1:
                click = int(rng.random() < (0.8 if item < 300 else 0.2))
                shown.write(f"{name}\t{moment}\t{item}\t{click}\t{3 * click + 1}\t0.5\n")
    monkeypatch.setattr("sys.argv", [
        "trainer", "rank", "--model", str(ROOT / "models/demo"), "--exposures",
        str(folder / "exposures.tsv"), "--histories", str(folder / "histories.jsonl"), "--out",
        str(folder / "out"), "--hidden", "--epochs", "2", "--attributes", "bid:log", *flags])
    monkeypatch.setattr("trainer.finetune.digest_of", lambda _: "0" * 32)
    monkeypatch.setattr("trainer.rank.digest_of", lambda _: "0" * 32)
    return main()


def test_a_run_writes_heads_to_push_and_prints_figures(tmp_path, monkeypatch, capsys):
    assert demo_run(tmp_path, monkeypatch, "--json", "--rates", str(tmp_path / "catalogue.jsonl"),
                    "--test-out", str(tmp_path / "test.tsv")) == 0
    told = json.loads(capsys.readouterr().out)
    ranking = read_ranking(tmp_path / "out")
    assert [(head.name, head.activation) for head in ranking.heads] == [
        ("click", "sigmoid"), ("dwell", "identity")]
    assert [one.name for one in ranking.attributes] == [
        "bid", "rate_click", "shown_click", "rate_dwell", "shown_dwell"]
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "ranking.json", "heads.safetensors"}
    assert told["rows"] == len((tmp_path / "test.tsv").read_text().splitlines()) - 1
    assert told["heads"]["click"]["auc"] is not None and told["heads"]["dwell"]["auc"] is None
    assert set(told["baselines"]["click"]) == {"item rate", "logistic regression", "LightGBM",
                                               "recall score"}
    first = json.loads((tmp_path / "catalogue.jsonl").read_text().splitlines()[0])
    assert first["attributes"]["shown_click"] >= 0
    assert demo_run(tmp_path, monkeypatch) == 2  # the folder is there


def test_heads_that_are_no_numbers_are_not_written(tmp_path, monkeypatch, capsys):
    assert demo_run(tmp_path, monkeypatch, "--lr", "1e30") == 2
    assert "--lr: expected a rate by which the loss stays" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_run_on_rows_that_weigh_nothing_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("trainer.rank.read_exposures", lambda path: replace(
        read_exposures(path), weights=np.zeros(360)))
    assert demo_run(tmp_path, monkeypatch) == 2
    assert "click: expected an outcome that weighs" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_heads_of_outcomes_correct_the_score_of_the_recall(tmp_path, monkeypatch):
    assert demo_run(tmp_path, monkeypatch, "--score", "--calibration", "isotonic") == 2
    assert demo_run(tmp_path, monkeypatch, "--score", "--adapter", "lora") == 2
    assert demo_run(tmp_path, monkeypatch, "--score", "--calibration", "platt") == 0
    click, dwell = read_ranking(tmp_path / "out").heads
    assert click.score_weight != 0 and click.calibration == {} and dwell.score_weight == 0
    inputs = torch.zeros(2, click.layers[0][0].shape[1])
    logits = click.raw(inputs, np.array([-1.0, -3.0])).logit()
    assert (logits[0] - logits[1]).item() == pytest.approx(2 * click.score_weight, rel=1e-4)


def test_an_activated_adapter_is_trained_and_saved_with_its_invocation(tmp_path, monkeypatch):
    assert demo_run(tmp_path, monkeypatch, "--adapter", "activated") == 2  # activated by nothing
    assert demo_run(tmp_path, monkeypatch, "--adapter", "activated", "--item", "<|eos|>{sid}") == 0
    config = json.loads((tmp_path / "out" / "adapter_config.json").read_text())
    assert len(config["alora_invocation_tokens"]) == 1 and config["revision"] == "0" * 32
    factors = load_file(tmp_path / "out" / "adapter_model.safetensors")
    assert any(value.abs().max() > 0 for name, value in factors.items() if "lora_B" in name)
    assert read_ranking(tmp_path / "out").item == "<|eos|>{sid}"


@pytest.mark.parametrize("epochs, says", [(2, True), (60, False)])
def test_heads_that_still_learn_in_their_last_epoch_are_said(epochs, says, capsys):
    rng = np.random.default_rng(1)
    states = torch.tensor(rng.normal(size=(200, 4)), dtype=torch.float32)
    labels = (rng.random(200) < 1 / (1 + np.exp(-states[:, 0].numpy()))).astype(np.float32)
    targets = Targets(torch.zeros((200, 0)), {"click": torch.tensor(labels)}, {"click": True},
                      torch.ones(200), {"click": 1.0})
    plan = HeadPlan((8,), "gelu", epochs, 3, 1e-2, 0.0, 0.0, 1)
    train_on_states(states, targets, np.arange(160), np.arange(160, 200), ["click"], plan)
    assert ("still fell in the last" in capsys.readouterr().out) == says
