"""OpenVINO as a peer: the prompt pass of an ONNX graph in F32, BF16 or INT8.

INT8: weights in 8 bits (NNCF), rows of activations quantised as they come (dynamic quantisation).

stdin: a request a line, {"width": W, "tokens": [...]}; stdout: an answer a line, see README.md.
usage: openvino_peer.py GRAPH CODES THREADS f32|bf16|int8
"""

import json
import sys
import time

from answers import ANSWERS  # before NNCF, which prints tables

import nncf
import numpy as np
import openvino

GROUP = 64  # inputs that share a scale, as in Tessera's W8A8


def main() -> None:
    graph, codes, threads, precision = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    core = openvino.Core()
    settings = {
        "INFERENCE_NUM_THREADS": threads,
        "ENABLE_CPU_PINNING": True,
        "INFERENCE_PRECISION_HINT": "f32" if precision == "f32" else "bf16",
    }
    read = core.read_model(graph)
    if precision == "int8":
        read = nncf.compress_weights(read, mode=nncf.CompressWeightsMode.INT8_SYM)
        settings["DYNAMIC_QUANTIZATION_GROUP_SIZE"] = GROUP
    model = core.compile_model(read, "CPU", settings)
    print(json.dumps({"ready": True}), file=ANSWERS, flush=True)
    for line in sys.stdin:
        tokens = np.array([json.loads(line)["tokens"]])
        start = time.perf_counter()
        logits = model({"tokens": tokens})["logits"]
        milliseconds = 1000 * (time.perf_counter() - start)
        first = logits[0, :codes].tolist()
        answer = {"prefillMs": milliseconds, "firstLogits": first}
        print(json.dumps(answer), file=ANSWERS, flush=True)


if __name__ == "__main__":
    main()
