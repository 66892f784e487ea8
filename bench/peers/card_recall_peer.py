"""Constrained beam search of transformers on a card, alone: the ways of transformers_peer.py.

stdout: {"card", "results"}, microseconds of a recall, median of the rounds; a context that the card
has no memory for is named on the standard error and left out.
usage: card_recall_peer.py MODEL SIDS LEVELS CODES cpu|cuda loop|generate CONTEXTS WIDTH ROUNDS
"""

import json
import os
import random
import statistics
import sys

import torch
from paths import Paths
from transformers_peer import Peer


def prompt_of(context: int, levels: int, codes: int, seed: int) -> list[int]:
    draw = random.Random(seed)
    return [at % levels * codes + draw.randrange(codes) for at in range(context)]


def main() -> None:
    folder, sids, levels, codes, device, way, contexts, width, rounds = sys.argv[1:]
    levels, codes = int(levels), int(codes)
    peer = Peer(folder, Paths(sids, levels, codes), torch.bfloat16, device)
    answer = {"generate": peer.generate, "loop": peer.loop}[way]
    shape = os.path.basename(folder.rstrip("/")).removeprefix("card-").rsplit("-", 1)[0]
    lines = []
    with torch.inference_mode():
        for context in map(int, contexts.split(",")):
            try:
                times = [
                    answer(prompt_of(context, levels, codes, seed), int(width))["totalMs"]
                    for seed in range(1 + int(rounds))
                ]
            except torch.OutOfMemoryError as error:
                print(f"context {context}: {error}", file=sys.stderr)
                torch.cuda.empty_cache()
                continue
            name = f"transformers {way}/{shape}/context {context}"
            value = 1000 * statistics.median(times[1:])
            lines.append({"name": name, "value": value, "unit": "us"})
    card = torch.cuda.get_device_name() if device == "cuda" else "this machine's processor"
    print(json.dumps({"card": card, "results": lines}))


if __name__ == "__main__":
    main()
