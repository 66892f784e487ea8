"""An ONNX graph with its products in INT8: weights by channel, activations as they come.

usage: write_int8_onnx.py GRAPH OUTPUT
"""

import sys

from onnxruntime.quantization import QuantType, quantize_dynamic


def main() -> None:
    graph, output = sys.argv[1], sys.argv[2]
    quantize_dynamic(
        graph,
        output,
        per_channel=True,
        weight_type=QuantType.QInt8,
        use_external_data_format=True,
        extra_options={"MatMulConstBOnly": True},
    )


if __name__ == "__main__":
    main()
