"""The prompt pass of a random model as an ONNX graph: the logits after a prompt of fixed length.

usage: write_onnx.py MODEL_FOLDER TOKENS OUTPUT
"""

import sys

import torch
from transformers import AutoModelForCausalLM


class Prefill(torch.nn.Module):
    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        out = self.model(input_ids=tokens, use_cache=False, logits_to_keep=1)
        return out.logits[:, -1]


def main() -> None:
    folder, tokens, output = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    example = torch.zeros(1, tokens, dtype=torch.int64)
    names = {"input_names": ["tokens"], "output_names": ["logits"]}
    with torch.inference_mode():
        program = torch.onnx.export(Prefill(model), (example,), dynamo=True, **names)
        program.save(output, external_data=True)


if __name__ == "__main__":
    main()
