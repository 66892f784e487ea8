"""Other engines as peers of encoders: vectors of texts that are given as tokens.

Texts go in batches of 32, each padded to its longest: `padded` as they come, `sorted` by length, as
SentenceTransformers does. INT8 of OpenVINO and ONNX Runtime: weights in 8 bits, activations
quantised as they come. CTranslate2 leaves the padding out of its products by itself.

stdin: {"texts": [[token]], "way": "padded"|"sorted", "isShown": bool} a line;
stdout: {"totalMs", "vectors"} a line, without vectors where they are not to be shown.
usage: embedding_peer.py transformers|onnxruntime|openvino|ctranslate2 PATH THREADS f32|bf16|int8
PATH: a Hugging Face folder, for ONNX Runtime and OpenVINO a graph.
"""

import json
import sys
import time
from contextlib import redirect_stdout
from pathlib import Path
from typing import Callable

import numpy as np

BATCH = 32
GROUP = 64  # inputs that share a scale, as in Tessera's W8A8

# Tokens and mask, [texts, longest] each, to vectors.
Compute = Callable[[np.ndarray, np.ndarray], np.ndarray]


def transformers(path: str, threads: int, precision: str) -> Compute:
    import torch
    from mean_of_rows import MeanOfRows

    torch.set_num_threads(threads)
    model = MeanOfRows(path, {"f32": torch.float32, "bf16": torch.bfloat16}[precision])

    def compute(tokens: np.ndarray, mask: np.ndarray) -> np.ndarray:
        with torch.inference_mode():
            return model(torch.from_numpy(tokens), torch.from_numpy(mask)).numpy()

    return compute


def onnxruntime(path: str, threads: int, precision: str) -> Compute:
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    # Threads spin while a graph runs; then they leave the machine to the others.
    options.add_session_config_entry("session.force_spinning_stop", "1")
    session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return lambda tokens, mask: session.run(["vectors"], {"tokens": tokens, "mask": mask})[0]


def openvino(path: str, threads: int, precision: str) -> Compute:
    import nncf
    from openvino import Core

    core = Core()
    settings = {
        "INFERENCE_NUM_THREADS": threads,
        "ENABLE_CPU_PINNING": True,
        "INFERENCE_PRECISION_HINT": "f32" if precision == "f32" else "bf16",
    }
    graph = core.read_model(path)
    if precision == "int8":
        graph = nncf.compress_weights(graph, mode=nncf.CompressWeightsMode.INT8_SYM)
        settings["DYNAMIC_QUANTIZATION_GROUP_SIZE"] = GROUP
    model = core.compile_model(graph, "CPU", settings)
    return lambda tokens, mask: model({"tokens": tokens, "mask": mask})["vectors"]


def convert(path: str, output: Path, quantization: str) -> None:
    """The vocabulary is the token's number: texts come as tokens."""
    from types import SimpleNamespace

    import torch
    from ctranslate2.converters.transformers import BertLoader
    from transformers import AutoModel

    source = AutoModel.from_pretrained(path, dtype=torch.float32).eval()
    words = {f"t{token}": token for token in range(source.config.vocab_size)}
    tokenizer = SimpleNamespace(get_vocab=lambda: words, unk_token="t0")
    with torch.no_grad():
        spec = BertLoader()(source, tokenizer)
    spec.validate()
    spec.optimize(quantization=None if quantization == "float32" else quantization)
    output.mkdir(parents=True, exist_ok=True)
    spec.save(str(output))


def ctranslate2(path: str, threads: int, precision: str) -> Compute:
    import ctranslate2 as library

    quantization = {"f32": "float32", "int8": "int8"}[precision]
    output = Path(path) / f"ctranslate2-{quantization}"
    if not (output / "model.bin").exists():
        convert(path, output, quantization)
    encoder = library.Encoder(
        str(output), intra_threads=threads, inter_threads=1, compute_type=quantization
    )

    def compute(tokens: np.ndarray, mask: np.ndarray) -> np.ndarray:
        lengths = mask.sum(1)
        texts = [row[:length].tolist() for row, length in zip(tokens, lengths, strict=True)]
        rows = np.array(encoder.forward_batch(texts).last_hidden_state)
        shares = mask[:, :, None].astype(np.float32)
        return (rows * shares).sum(1) / lengths[:, None]

    return compute


def vectors_of(texts: list[list[int]], way: str, compute: Compute) -> np.ndarray:
    order = list(range(len(texts)))
    if way == "sorted":
        order.sort(key=lambda i: -len(texts[i]))
    vectors: list[np.ndarray] = []
    for at in range(0, len(order), BATCH):
        batch = [texts[i] for i in order[at : at + BATCH]]
        longest = max(len(text) for text in batch)
        tokens = np.zeros((len(batch), longest), np.int64)
        mask = np.zeros((len(batch), longest), np.int64)
        for i, text in enumerate(batch):
            tokens[i, : len(text)] = text
            mask[i, : len(text)] = 1
        vectors.append(compute(tokens, mask))
    whole = np.concatenate(vectors)
    return whole[np.argsort(order)]


ENGINES = {each.__name__: each for each in (transformers, onnxruntime, openvino, ctranslate2)}


def main() -> None:
    engine, path, threads, precision = sys.argv[1:]
    # Libraries print; the standard output is for answers alone.
    with redirect_stdout(sys.stderr):
        compute = ENGINES[engine](path, int(threads), precision)
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        start = time.perf_counter()
        vectors = vectors_of(asked["texts"], asked["way"], compute)
        answer = {"totalMs": 1000 * (time.perf_counter() - start)}
        if asked["isShown"]:
            answer["vectors"] = vectors.tolist()
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
