"""Constrained beam search in torch, for validation: masked before top-k, at every level."""

import random
import time
from collections import defaultdict
from collections.abc import Iterator

import numpy as np
import torch
from tqdm import tqdm
from transformers import DynamicCache

from .tiger.steps import EncoderDecoderSteps, floats_per_beam
from .tokens import Vocabulary
from .trie import SidTrie

KV_BUDGET_FLOATS = 96_000_000
#: Rank of a prompt that the time was too short for.
UNASKED = -2
#: Prompts of a batch where the time is bounded: less is done behind its end.
TIMED_BATCH = 32
NOTHING: frozenset[str] = frozenset()


def level_ids(vocabulary: Vocabulary, trie: SidTrie) -> list[torch.Tensor]:
    """Token id of each code; codes without a token point at token 0 (the trie masks them)."""
    tables = []
    for level, size in enumerate(trie.sizes):
        tokens = vocabulary.level_tokens[level]
        tables.append(torch.tensor([tokens.get(code, 0) for code in range(size)]))
    return tables


class DecoderSteps:
    """Logits of a search by a decoder, whose keys and values are kept."""

    def __init__(self, model) -> None:
        self.model, self.cache = model, DynamicCache(config=model.config)

    def first(self, prompts: torch.Tensor) -> torch.Tensor:
        """Logits (batch, 1, vocabulary) behind prompts (batch, length)."""
        logits = self.model(input_ids=prompts.to(self.model.device), past_key_values=self.cache,
                            logits_to_keep=1).logits
        return logits.view(len(prompts), 1, -1).cpu()

    def next(self, parents: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        """Logits (batch, beams, vocabulary) behind tokens (batch, beams), which go on from rows
        `parents` of those before."""
        device = self.model.device
        self.cache.reorder_cache(parents.flatten().to(device))
        logits = self.model(input_ids=tokens.reshape(-1, 1).to(device),
                            past_key_values=self.cache).logits
        return logits.view(*tokens.shape, -1).cpu()


@torch.inference_mode()
def beam_search(model, prompts: torch.Tensor, trie: SidTrie, ids: list[torch.Tensor],
                width: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Best leaves of equally long prompts, shape (batch, length).

    Returns leaves and scores, (batch, <= width), best first; a score is the sum of the
    full-vocabulary log-softmax of the path's tokens, and -inf marks a place without a path. A
    chosen path that has items is finished at once, and goes on where longer ones begin with it. The
    model computes on its device, the search on the processor.
    """
    finished: list[tuple[torch.Tensor, torch.Tensor]] = []
    batch = prompts.shape[0]
    steps = EncoderDecoderSteps(model) if model.config.is_encoder_decoder else DecoderSteps(model)
    logits = steps.first(prompts)
    nodes = torch.zeros(batch, 1, dtype=torch.long)
    scores = torch.zeros(batch, 1)
    for level in range(trie.depth):
        log_probs = logits.float().log_softmax(-1)[:, :, ids[level]]
        children = trie.children(level, nodes)
        totals = (scores.unsqueeze(-1) + log_probs).masked_fill(children < 0, -torch.inf)
        size = totals.shape[-1]
        beams = min(width, totals.shape[1] * size)
        scores, flat = totals.view(batch, -1).topk(beams)
        nodes = children.view(batch, -1).gather(1, flat)
        nodes = nodes.masked_fill(scores == -torch.inf, -1)
        numbers = trie.leaves[level]
        if numbers is not None:
            leaves = numbers[nodes].masked_fill(nodes < 0, -1)
            finished.append((leaves, scores.masked_fill(leaves < 0, -torch.inf)))
        if level + 1 == trie.depth:
            break
        parents = torch.arange(batch).unsqueeze(1) * totals.shape[1] + flat // size
        logits = steps.next(parents, ids[level][flat % size])
    if len(finished) == 1:
        return finished[0]
    leaves, ends = (torch.cat(parts, 1) for parts in zip(*finished))
    scores, order = ends.sort(dim=1, descending=True, stable=True)
    return leaves.gather(1, order)[:, :width], scores[:, :width]


def _floats_per_beam(config, longest: int) -> int:
    """Numbers that a search keeps for a beam."""
    if config.is_encoder_decoder:
        return floats_per_beam(config, longest)
    # Families whose heads divide the rows (Qwen2) leave it out, or have it as None.
    head_dim = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    layers = config.num_hidden_layers
    states = (getattr(config, "layer_types", None) or []).count("linear_attention")
    per_beam = 2 * (layers - states) * config.num_key_value_heads * head_dim * longest
    if states:
        per_beam += (states * config.linear_num_value_heads * config.linear_key_head_dim
                     * config.linear_value_head_dim)
    return per_beam


def _equal_lengths(prompts: list[list[int]], batch: int) -> Iterator[list[int]]:
    by_length: dict[int, list[int]] = defaultdict(list)
    for place, prompt in enumerate(prompts):
        by_length[len(prompt)].append(place)
    for _, places in sorted(by_length.items()):
        for start in range(0, len(places), batch):
            yield places[start:start + batch]


def item_ranks(model, prompts: list[list[int]], targets: list[str], trie: SidTrie,
               vocabulary: Vocabulary, width: int, label: str,
               had: list[frozenset[str]] | None = None,
               seconds: float | None = None, shown: set[str] | None = None) -> np.ndarray:
    """Rank (from 0) of each prompt's target item in its list; -1 where it is not there. Of each
    list the items in `had` are left out. After the seconds no batch begins, but one does in any
    case: those that are left are UNASKED. The first ten items of each list come into `shown`."""
    ids = level_ids(vocabulary, trie)
    per_beam = _floats_per_beam(model.config, max(map(len, prompts)) + trie.depth)
    batch = max(1, min(256 if seconds is None else TIMED_BATCH,
                       KV_BUDGET_FLOATS // (per_beam * width)))
    ranks = np.full(len(prompts), UNASKED)
    work = list(_equal_lengths(prompts, batch))
    if seconds is not None:  # so that those of any length are asked
        random.Random(len(prompts)).shuffle(work)
    began = time.monotonic()
    was_training = model.training
    model.eval()
    with tqdm(total=len(prompts), desc=label, unit="user", leave=False, mininterval=2) as bar:
        for number, places in enumerate(work):
            if seconds is not None and number and time.monotonic() - began > seconds:
                break
            rows = torch.tensor([prompts[place] for place in places])
            leaves, _ = beam_search(model, rows, trie, ids, width)
            for place, found in zip(places, leaves.tolist()):
                listed = _listed(found, trie, had[place] if had else NOTHING)
                ranks[place] = _rank(targets[place], listed)
                if shown is not None:
                    shown.update(listed[:FIRST])
            bar.update(len(places))
    model.train(was_training)
    return ranks


def _listed(leaves: list[int], trie: SidTrie, had: frozenset[str]) -> list[str]:
    return [item for leaf in leaves if leaf >= 0 for item in trie.leaf_items[leaf]
            if item not in had]


def _rank(target: str, listed: list[str]) -> int:
    return listed.index(target) if target in listed else -1


#: Items of a list that count as shown.
FIRST = 10

#: Of the final measurement; a list is as long as its beam lets it be.
CUTS = (5, 10, 20, 50)


def ranking_metrics(ranks: np.ndarray, cuts: tuple[int, ...] = (5, 10)) -> dict[str, float]:
    """Recall and NDCG at the cuts; one relevant item per list."""
    metrics = {}
    for cut in cuts:
        hit = (ranks >= 0) & (ranks < cut)
        gain = np.where(hit, 1 / np.log2(np.maximum(ranks, 0) + 2), 0.0)
        metrics[f"recall@{cut}"] = float(hit.mean())
        metrics[f"ndcg@{cut}"] = float(gain.mean())
    return metrics
