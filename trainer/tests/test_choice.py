"""Where a training begins, and which epoch is kept: the newest that is not worse than the best by
more than noise."""

import pytest
import torch

from trainer.devices import has_bf16
from trainer.errors import InputError
from trainer.history import Behaviour, User, repeats
from trainer.model import build_model, embed_codes
from trainer.settings import Plan, Shape
from trainer.train import below_baselines
from trainer.trained_template import usual_items
from trainer.training import Training


class Still(torch.nn.Module):
    """One weight; nothing is trained."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(1))


def kept(recalls, doubt, tmp_path, patience=9):
    found = iter(recalls)
    epochs = []
    plan = Plan(epochs=len(recalls), validate_every=1, patience=patience, minutes=0)
    training = Training(Still(), None, plan, tmp_path / "state.pt", "mark",
                        lambda _: {"recall@10": next(found)},
                        lambda progress: epochs.append(progress.epoch), doubt=lambda _: doubt)
    training._epoch = lambda: 1.0
    return epochs, training.run()


@pytest.mark.parametrize(("doubt", "last"), [(0.0, 2), (0.004, 4)])
def test_the_newest_weights_win_within_a_standard_error(doubt, last, tmp_path):
    epochs, progress = kept([0.050, 0.065, 0.060, 0.063], doubt, tmp_path)
    assert epochs[-1] == last
    assert progress.best == 0.065


def test_weights_that_are_worse_by_more_end_the_training(tmp_path):
    epochs, progress = kept([0.06, 0.05, 0.05, 0.07], 0.004, tmp_path, patience=2)
    assert (epochs, progress.epoch) == ([1], 3)


def test_an_epoch_without_numbers_is_refused_and_those_before_stay(tmp_path):
    epochs = []
    training = Training(Still(), None, Plan(epochs=3, validate_every=1), tmp_path / "state.pt",
                        "mark", lambda _: {"recall@10": 0.1},
                        lambda progress: epochs.append(progress.epoch))
    training.predictions = lambda inputs, labels: (
        training.model.weight * torch.ones(2, 5), torch.ones(2, dtype=torch.long))

    def epoch():
        if training.progress.epoch == 1:
            training.model.weight.data.fill_(torch.nan)
        training._check(torch.ones(1, 3, dtype=torch.long), torch.ones(1, 3, dtype=torch.long))
        return 1.0

    training._epoch = epoch
    with pytest.raises(InputError, match="--lr: .*loss nan in epoch 2; what was kept before stays"):
        training.run()
    assert epochs == [1]
    state = torch.load(tmp_path / "state.pt", weights_only=True)
    assert state["model"]["weight"].isfinite().all()


def test_a_model_below_its_baselines_is_warned_of():
    metrics = {"model": {"recall@10": 0.05}, "popularity": {"recall@10": 0.04},
               "item-KNN": {"recall@10": 0.06}}
    said = below_baselines(metrics)
    assert "warning" in said and "item-KNN (0.0600)" in said and "popularity" not in said
    assert below_baselines({**metrics, "model": {"recall@10": 0.07}}) == ""


def test_codes_that_are_all_alike_leave_embeddings_as_they_were():
    model = build_model(Shape(1, 16, 2, 1, 8, 24, True), 32, 16, 0, 1, 2)
    before = model.get_input_embeddings().weight.detach().clone()
    alike = torch.full((4, 3), 0.25)
    with torch.no_grad():
        embed_codes(model, [alike, torch.eye(4, 3)],
                    [{code: 4 + code for code in range(4)}, {code: 8 + code for code in range(4)}])
    after = model.get_input_embeddings().weight
    assert torch.isfinite(after).all()
    assert torch.equal(after[4:8], before[4:8]) and not torch.equal(after[8:12], before[8:12])


def test_minutes_bound_the_training_each_validation_and_what_was_before(tmp_path):
    plan = Plan(epochs=9, validate_every=9, minutes=10)
    given = []
    training = Training(Still(), None, plan, tmp_path / "state.pt", "mark",
                        lambda seconds: given.append(seconds) or {"recall@10": 0.1},
                        lambda _: None)

    def epoch():
        progress = training.progress
        progress.epoch_steps = 7
        progress.steps += 3
        progress.batch += 3
        progress.seconds += 400
        return 1.0

    training._epoch = epoch
    progress = training.run(spent_seconds=90)
    assert given == [48.0]
    assert progress.seconds == pytest.approx(490, abs=1)
    assert progress.unfinished.startswith("3 batches of 7 of epoch 1: this is no model")
    # The same command goes on within the epoch, with what is left of more minutes.
    more = Training(Still(), None, Plan(epochs=1, minutes=30), tmp_path / "state.pt", "mark",
                    lambda _: {"recall@10": 0.1}, lambda _: None)
    seen = []
    more._epoch = lambda: (seen.append(more.progress.batch)
                           or setattr(more.progress, "batch", 7) or 1.0)
    assert more.run().unfinished == ""
    assert seen == [3]


@pytest.mark.parametrize(("flags", "has"), [
    ("flags\t: fpu avx512f avx512_bf16 amx_tile", True), ("flags : fpu amx_bf16", True),
    ("Features : fp asimd bf16", True), ("flags : fpu avx2 avx512f f16c", False), ("", False)])
def test_products_are_in_bf16_where_the_processor_has_them(flags, has, tmp_path):
    (tmp_path / "cpuinfo").write_text(f"processor : 0\n{flags}\n")
    assert has_bf16(torch.device("cpu"), tmp_path / "cpuinfo") == has
    assert not has_bf16(torch.device("cpu"), tmp_path / "none")


def test_prompts_show_the_median_of_the_users_within_bounds():
    def of(*counts):
        return {str(n): User([Behaviour(str(i)) for i in range(count)])
                for n, count in enumerate(counts)}
    assert [usual_items(of(*counts)) for counts in ((3, 4, 90), (10, 65, 80), (300, 400))] == [
        20, 65, 100]
    assert repeats(of(3, 5)) == 0
    assert repeats({"u": User([Behaviour(item) for item in "abab"])}) == 0.5
