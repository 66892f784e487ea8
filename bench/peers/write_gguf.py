"""A random model of the benchmark as a GGUF file for llama.cpp: the same weights.

usage: write_gguf.py MODEL_FOLDER OUTPUT TYPE    TYPE: bf16, q8_0
"""

import json
import sys
from pathlib import Path

import gguf
import numpy as np
import torch
from safetensors.torch import load_file

ARCHITECTURE = "qwen3"
TYPES = {
    "bf16": (gguf.GGMLQuantizationType.BF16, gguf.LlamaFileType.MOSTLY_BF16),
    "q8_0": (gguf.GGMLQuantizationType.Q8_0, gguf.LlamaFileType.MOSTLY_Q8_0),
}
NAMES = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


def gguf_name(name: str) -> str:
    stem = name.removesuffix(".weight")
    if not stem.startswith("model.layers."):
        return f"{NAMES[stem]}.weight"
    layer, rest = stem.removeprefix("model.layers.").split(".", 1)
    return f"blk.{layer}.{NAMES[rest]}.weight"


def write_header(writer: gguf.GGUFWriter, config: dict, file_type: gguf.LlamaFileType) -> None:
    writer.add_file_type(file_type)
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_key_length(config["head_dim"])
    writer.add_value_length(config["head_dim"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_rope_freq_base(config["rope_theta"])
    writer.add_vocab_size(config["vocab_size"])
    writer.add_tokenizer_model("no_vocab")


def main() -> None:
    folder, output, kind = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    tensor_type, file_type = TYPES[kind]
    config = json.loads((folder / "config.json").read_text())
    fresh = output.with_suffix(".fresh")
    writer = gguf.GGUFWriter(fresh, ARCHITECTURE)
    write_header(writer, config, file_type)
    for name, tensor in load_file(folder / "model.safetensors").items():
        values = tensor.to(torch.float32).numpy()
        if values.ndim == 1:
            writer.add_tensor(gguf_name(name), np.ascontiguousarray(values))
            continue
        data = gguf.quants.quantize(values, tensor_type)
        writer.add_tensor(gguf_name(name), data, raw_dtype=tensor_type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    fresh.rename(output)


if __name__ == "__main__":
    main()
