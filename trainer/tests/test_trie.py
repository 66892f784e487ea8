"""The trie's children and the constrained beam equal brute force."""

import numpy as np
import pytest
import torch

from trainer.beam import (
    TIMED_BATCH,
    UNASKED,
    beam_search,
    item_ranks,
    level_ids,
    ranking_metrics,
)
from trainer.constraint import SidTree, reference_beam, transformers_beam
from trainer.data import SidIndex
from trainer.model import build_model
from trainer.settings import Shape
from trainer.parity import compare
from trainer.tokens import BOS, EOS, PAD, build_vocabulary
from trainer.trie import build_trie


def random_index(seed: int, depth: int = 3, items: int = 40, codes: int = 6) -> SidIndex:
    rng = np.random.default_rng(seed)
    sids = {str(i): tuple(int(c) for c in rng.integers(codes, size=depth)) for i in range(items)}
    return SidIndex(sids, depth, [f"<{'abc'[i]}_{{code}}>" for i in range(depth)], False)


def random_model(seed: int, index: SidIndex, family: str = "qwen3"):
    vocabulary = build_vocabulary(index)
    torch.manual_seed(seed)
    shape = Shape(layers=2, hidden=24, heads=3, kv_heads=1, head_dim=8, intermediate=32,
                  family=family)
    model = build_model(shape, vocabulary.size, 32, *map(vocabulary.id_of, (BOS, EOS, PAD)))
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.mul_(10.0)
    return model.eval(), vocabulary


@pytest.mark.parametrize("seed", range(20))
def test_children_are_exactly_the_prefixes_of_some_item(seed):
    index = random_index(seed)
    trie = build_trie(index)
    prefix_of_node = {0: ()}
    for level, size in enumerate(trie.sizes):
        nodes = torch.tensor(sorted(prefix_of_node))
        children = trie.children(level, nodes)
        below = {}
        for row, node in enumerate(nodes.tolist()):
            for code in range(size):
                prefix = (*prefix_of_node[node], code)
                exists = any(sid[:level + 1] == prefix for sid in index.codes.values())
                child = int(children[row, code])
                assert (child >= 0) == exists, f"seed {seed} prefix {prefix}"
                if exists:
                    below[child] = prefix
        prefix_of_node = below
    for leaf, prefix in prefix_of_node.items():
        expected = sorted((i for i, sid in index.codes.items() if sid == prefix), key=str.encode)
        assert trie.leaf_items[leaf] == expected


def test_a_dead_beam_has_no_children():
    trie = build_trie(random_index(3))
    assert (trie.children(1, torch.tensor([-1])) == -1).all()


@pytest.mark.parametrize(("seed", "family"),
                         [*((seed, "qwen3") for seed in range(5)), (5, "qwen3_5"), (6, "qwen3_5")])
def test_the_batched_beam_equals_the_plain_search_and_transformers(seed, family):
    index = random_index(seed)
    model, vocabulary = random_model(seed, index, family)
    trie = build_trie(index)
    tree = SidTree(index.codes.values(), lambda level, code: vocabulary.level_tokens[level][code])
    sids = list(index.codes.values())
    for width in (7, 60):
        history = [vocabulary.item_tokens(sids[i]) for i in (1, 5, 9)]
        prompt = [vocabulary.id_of(BOS)] + [token for item in history for token in item]
        leaves, scores = beam_search(model, torch.tensor([prompt, prompt]), trie,
                                     level_ids(vocabulary, trie), width)
        found = [(index.codes[trie.leaf_items[leaf][0]], score)
                 for leaf, score in zip(leaves[1].tolist(), scores[1].tolist()) if leaf >= 0]
        plain = reference_beam(model, prompt, tree, [width]).answers
        theirs = transformers_beam(model, prompt, tree, width)
        assert [sid for sid, _ in found] == [answer.sid for answer in plain], f"seed {seed}"
        assert [answer.sid for answer in theirs] == [answer.sid for answer in plain]
        assert np.allclose([score for _, score in found], [a.score for a in plain], atol=1e-4)


@pytest.mark.parametrize("seed", range(5))
def test_paths_of_several_depths_are_found_as_the_plain_search_finds_them(seed):
    rng = np.random.default_rng(seed)
    full = random_index(seed, items=50)
    codes = {item: sid[:int(rng.integers(1, 4))] for item, sid in full.codes.items()}
    index = SidIndex(codes, 3, full.patterns, False)
    model, vocabulary = random_model(seed, index)
    trie = build_trie(index)
    assert sorted(trie.leaf_items) == sorted(
        sorted((i for i, other in codes.items() if other == sid), key=str.encode)
        for sid in set(codes.values()))
    tree = SidTree(codes.values(), lambda level, code: vocabulary.level_tokens[level][code])
    prompt = [vocabulary.id_of(BOS), *vocabulary.item_tokens(codes["3"])]
    for width in (5, 60):
        leaves, scores = beam_search(model, torch.tensor([prompt]), trie,
                                     level_ids(vocabulary, trie), width)
        found = [codes[trie.leaf_items[leaf][0]] for leaf in leaves[0].tolist() if leaf >= 0]
        plain = reference_beam(model, prompt, tree, [width]).answers
        assert found == [answer.sid for answer in plain], f"seed {seed}"
        assert np.allclose(scores[0, :len(plain)], [a.score for a in plain], atol=1e-4)


def test_items_of_one_sid_stand_by_priority_and_then_by_the_bytes_of_their_ids():
    index = SidIndex({"b": (0,), "a": (0,), "ä": (0,), "z": (0,)}, 1, ["<a_{code}>"], False)
    assert build_trie(index, {"z": 2.0, "b": -1.0}).leaf_items == [["z", "a", "ä", "b"]]


def test_a_full_width_returns_every_sid_in_the_order_of_its_whole_score():
    index = random_index(8)
    model, vocabulary = random_model(8, index)
    tree = SidTree(index.codes.values(), lambda level, code: vocabulary.level_tokens[level][code])
    prompt = [vocabulary.id_of(BOS)]
    scores = {}
    for sid in set(index.codes.values()):
        tokens = prompt + tree.tokens(sid)
        with torch.inference_mode():
            rows = model(input_ids=torch.tensor([tokens])).logits[0].double().log_softmax(-1)
        scores[sid] = sum(rows[i, token].item() for i, token in enumerate(tokens[1:]))
    expected = sorted(scores, key=lambda sid: -scores[sid])
    found = reference_beam(model, prompt, tree, [1000]).answers
    assert [answer.sid for answer in found] == expected


def test_metrics_count_rank_zero_as_first_and_minus_one_as_absent():
    metrics = ranking_metrics(np.array([0, 4, 5, 9, 10, -1]))
    assert metrics["recall@5"] == pytest.approx(2 / 6)
    assert metrics["recall@10"] == pytest.approx(4 / 6)
    gain = 1 + sum(1 / np.log2(rank + 2) for rank in (4, 5, 9))
    assert metrics["ndcg@10"] == pytest.approx(gain / 6)


def test_a_swap_of_close_scores_is_a_near_tie_and_of_distant_ones_is_not():
    expected = [{"expected": [{"sid": [1], "score": -1.0}, {"sid": [2], "score": second}]}
                for second in (-1.00001, -1.5)]
    ours = [[{"sid": [2], "score": -1.0}, {"sid": [1], "score": -1.0}]] * 2
    report = compare(expected, ours)
    assert report["differ within near ties (< 0.0001)"] == 1
    assert report["differ beyond"] == 1


def test_a_list_leaves_out_what_the_user_had_and_a_clock_ends_the_asking():
    index = random_index(3)
    model, vocabulary = random_model(3, index)
    trie = build_trie(index)
    prompts = [[vocabulary.id_of(BOS)]] * 40 + [[vocabulary.id_of(BOS)] * 2] * 40
    targets = [str(place % 40) for place in range(80)]

    def ranks(**bounds):
        return item_ranks(model, prompts, targets, trie, vocabulary, 50, "", **bounds)

    plain = ranks()
    first = targets[int(np.flatnonzero(plain[:40] == 0)[0])]
    without = ranks(had=[frozenset({first})] * 80)
    assert without[int(first)] == -1
    assert (without[:40][plain[:40] > 0] == plain[:40][plain[:40] > 0] - 1).all()
    cut = ranks(seconds=0.0)
    asked = cut != UNASKED
    assert 0 < asked.sum() <= TIMED_BATCH
    assert (cut[asked] == plain[asked]).all()
