"""An encoder and the mean of its rows as an ONNX graph for any number of texts of any length.

usage: write_encoder_onnx.py MODEL_FOLDER OUTPUT
"""

import sys

import torch
from mean_of_rows import MeanOfRows

TEXTS, TOKENS = 3, 24


def main() -> None:
    folder, output = sys.argv[1:]
    tokens = torch.ones(TEXTS, TOKENS, dtype=torch.int64)
    mask = torch.ones(TEXTS, TOKENS, dtype=torch.int64)
    mask[0, TOKENS // 2:] = 0
    sizes = {0: "texts", 1: "longest"}
    with torch.inference_mode():
        program = torch.onnx.export(
            MeanOfRows(folder, torch.float32),
            (tokens, mask),
            dynamo=True,
            input_names=["tokens", "mask"],
            output_names=["vectors"],
            dynamic_shapes={"tokens": sizes, "mask": sizes},
        )
        program.save(output, external_data=True)


if __name__ == "__main__":
    main()
