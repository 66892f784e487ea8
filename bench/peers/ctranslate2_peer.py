"""CTranslate2 as a peer: its own beam search. It takes no list of allowed tokens, so its
paths are not those of the catalogue; the work per step is that of the model and of the beams.

stdin: a request a line, {"width": W, "tokens": [...]}; stdout: an answer a line, see README.md.
usage: ctranslate2_peer.py MODEL OUTPUT_FOLDER LEVELS THREADS int8|float32
"""

import json
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import ctranslate2
import torch
from ctranslate2.converters.transformers import Qwen3Loader
from transformers import AutoModelForCausalLM


def convert(model: str, output: Path, quantization: str) -> None:
    """The vocabulary is the token's number: the random models have no text."""
    source = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32).eval()
    words = {f"t{token}": token for token in range(source.config.vocab_size)}
    tokenizer = SimpleNamespace(
        get_vocab=lambda: words, bos_token="t0", eos_token="t0", unk_token="t0", pad_token="t0"
    )
    with torch.no_grad():
        spec = Qwen3Loader()(source, tokenizer)
    spec.validate()
    spec.optimize(quantization=None if quantization == "float32" else quantization)
    output.mkdir(parents=True, exist_ok=True)
    spec.save(str(output))


def main() -> None:
    model, folder, levels, threads, quantization = sys.argv[1:]
    output = Path(folder)
    if not (output / "vocabulary.json").exists():
        convert(model, output, quantization)
    generator = ctranslate2.Generator(
        folder, intra_threads=int(threads), inter_threads=1, compute_type=quantization
    )

    def timed(prompt: list[str], steps: int, width: int) -> float:
        start = time.perf_counter()
        generator.generate_batch(
            [prompt],
            beam_size=width,
            num_hypotheses=width,
            max_length=steps,
            min_length=steps,
            include_prompt_in_result=False,
            end_token=[],
        )
        return 1000 * (time.perf_counter() - start)

    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        prompt = [f"t{token}" for token in request["tokens"]]
        prefill = timed(prompt, 1, 1)
        total = timed(prompt, int(levels), request["width"])
        print(json.dumps({"prefillMs": prefill, "totalMs": total}), flush=True)


if __name__ == "__main__":
    main()
