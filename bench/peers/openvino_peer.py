"""OpenVINO as a peer: the prompt pass of an ONNX graph in F32.

stdin: a request a line, {"width": W, "tokens": [...]}; stdout: an answer a line, see README.md.
usage: openvino_peer.py GRAPH CODES THREADS
"""

import json
import sys
import time

import numpy as np
import openvino


def main() -> None:
    graph, codes, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    core = openvino.Core()
    settings = {"INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": "f32"}
    model = core.compile_model(core.read_model(graph), "CPU", settings)
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        tokens = np.array([json.loads(line)["tokens"]])
        start = time.perf_counter()
        logits = model({"tokens": tokens})["logits"]
        milliseconds = 1000 * (time.perf_counter() - start)
        first = logits[0, :codes].tolist()
        print(json.dumps({"prefillMs": milliseconds, "firstLogits": first}), flush=True)


if __name__ == "__main__":
    main()
