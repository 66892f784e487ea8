"""Constrained beam search by transformers, and a plain double-precision twin of it.

Both follow the one rule for paths that end in terminal tokens: a candidate that ends its path
is accepted when it ranks among the first `width` of all candidates and takes no place from the
running beams. Without terminal tokens a chosen path that has items is finished at once.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import torch

Sid = tuple[int, ...]
CUT_OFF = -1e8


@dataclass(frozen=True)
class Answer:
    """One path and its score: the sum of full-vocabulary log-softmax values."""

    sid: Sid
    score: float


class SidTree:
    """Children and items of every prefix; `token_of(level, code)` is the code's token."""

    def __init__(self, sids: Iterable[Sid], token_of: Callable[[int, int], int],
                 terminal: Sequence[int] = ()) -> None:
        self.ends = set(sids)
        self.terminal = list(terminal)
        self.children: dict[Sid, list[int]] = {}
        self.token_of = token_of
        self.depth = max(len(sid) for sid in self.ends)
        prefixes = {sid[:length] for sid in self.ends for length in range(1, len(sid) + 1)}
        for prefix in sorted(prefixes):
            self.children.setdefault(prefix[:-1], []).append(prefix[-1])
        self.code_at = [{token_of(len(p) - 1, p[-1]): p[-1] for p in prefixes if len(p) == n}
                        for n in range(1, self.depth + 1)]

    def tokens(self, sid: Sid) -> list[int]:
        return [self.token_of(level, code) for level, code in enumerate(sid)]

    def candidates(self, sid: Sid, ended: int) -> list[tuple[Sid, int, int]]:
        """(sid, ended, token) of each way to go on; `ended` counts terminal tokens so far."""
        if ended > 0 and ended >= len(self.terminal):
            return []
        if ended > 0:
            return [(sid, ended + 1, self.terminal[ended])]
        ways = [((*sid, code), 0, self.token_of(len(sid), code))
                for code in self.children.get(sid, [])]
        if self.terminal and sid in self.ends:
            ways.append((sid, 1, self.terminal[0]))
        return ways

    def walk(self, tokens: Sequence[int]) -> tuple[Sid, int]:
        """The place that generated tokens lead to; terminal tokens are known by their place."""
        sid: Sid = ()
        for place, token in enumerate(tokens):
            allowed = {way[2]: way for way in self.candidates(sid, 0)}
            if token not in allowed:
                raise KeyError(token)
            sid, ended, _ = allowed[token]
            if ended:
                return sid, len(tokens) - place
        return sid, 0


@dataclass
class ReferenceResult:
    """`margin`: the smallest gap between neighbours of an order that decided something."""

    answers: list[Answer]
    margin: float


@torch.inference_mode()
def reference_beam(model, prompt: list[int], tree: SidTree,
                   widths: list[int]) -> ReferenceResult:
    """Level by level from whole sequences, without a cache, in the model's own precision.

    The last width holds for all later steps.
    """
    beams: list[tuple[Sid, int, float]] = [((), 0, 0.0)]
    finished: list[Answer] = []
    margin = float("inf")
    step = 0
    while beams:
        width = widths[min(step, len(widths) - 1)]
        log_probs = _log_probs(model, prompt, tree, beams)
        found = []
        for (sid, ended, score), row in zip(beams, log_probs):
            found += [(score + row[token].item(), next_sid, next_ended)
                      for next_sid, next_ended, token in tree.candidates(sid, ended)]
        found.sort(key=lambda way: (-way[0], way[1]))
        gaps = [a[0] - b[0] for a, b in zip(found[:width + 1], found[1:width + 1])]
        margin = min([margin, *gaps])
        beams = []
        for rank, (score, sid, ended) in enumerate(found):
            ends = tree.terminal and ended == len(tree.terminal)
            if ends or (not tree.terminal and sid in tree.ends):
                if rank < width:
                    finished.append(Answer(sid, score))
            if not ends and len(beams) < width and (tree.terminal or rank < width):
                if ended or tree.terminal or sid in tree.children:
                    beams.append((sid, ended, score))
        step += 1
    finished.sort(key=lambda answer: (-answer.score, answer.sid))
    gaps = [a.score - b.score for a, b in zip(finished, finished[1:])]
    kept = finished[:max(widths)]
    return ReferenceResult(kept, min([margin, *gaps]))


def _log_probs(model, prompt: list[int], tree: SidTree,
               beams: list[tuple[Sid, int, float]]) -> torch.Tensor:
    rows = [prompt + tree.tokens(sid) + tree.terminal[:ended] for sid, ended, _ in beams]
    longest = max(map(len, rows))
    inputs = torch.zeros(len(rows), longest, dtype=torch.long)
    for i, row in enumerate(rows):
        inputs[i, :len(row)] = torch.tensor(row)
    logits = model(input_ids=inputs, use_cache=False).logits
    last = torch.tensor([len(row) - 1 for row in rows])
    return logits[torch.arange(len(rows)), last].log_softmax(-1)


@torch.inference_mode()
def transformers_beam(model, prompt: list[int], tree: SidTree, width: int) -> list[Answer]:
    """transformers' own `generate` with `prefix_allowed_tokens_fn`.

    Every sampling setting is reset here, because a generation_config.json that travels with
    a base model (temperature, top_k, top_p) changes the answer without a word.
    """
    length = len(prompt)

    def allowed(_batch: int, sequence: torch.Tensor) -> list[int]:
        try:
            sid, ended = tree.walk(sequence[length:].tolist())
        except KeyError:
            return [0]
        return [way[2] for way in tree.candidates(sid, ended)] or [0]

    out = model.generate(
        input_ids=torch.tensor([prompt]), attention_mask=torch.ones(1, length, dtype=torch.long),
        num_beams=width, num_return_sequences=width, do_sample=False, temperature=1.0,
        top_k=0, top_p=1.0, typical_p=1.0, repetition_penalty=1.0, no_repeat_ngram_size=0,
        length_penalty=0.0, early_stopping=False, renormalize_logits=False,
        max_new_tokens=tree.depth + len(tree.terminal), prefix_allowed_tokens_fn=allowed,
        eos_token_id=tree.terminal[-1] if tree.terminal else None, pad_token_id=0,
        bos_token_id=None, return_dict_in_generate=True, output_scores=True)
    answers = []
    for row, score in zip(out.sequences.tolist(), out.sequences_scores.tolist()):
        if score < CUT_OFF:
            continue
        sid = _sid_of(tree, row[length:])
        if sid is not None:
            answers.append(Answer(sid, score))
    return answers


def _sid_of(tree: SidTree, tokens: list[int]) -> Sid | None:
    sid: Sid = ()
    for token in tokens:
        if tree.terminal and token == tree.terminal[0] and sid in tree.ends:
            return sid
        if len(sid) >= tree.depth or token not in tree.code_at[len(sid)]:
            break
        sid = (*sid, tree.code_at[len(sid)][token])
    return sid if sid in tree.ends and not tree.terminal else None
