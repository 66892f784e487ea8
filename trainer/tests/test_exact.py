"""The delta rule token by token against transformers' own in chunks."""

import torch
from transformers.models.qwen3_next.modeling_qwen3_next import torch_chunk_gated_delta_rule

from trainer.exact import delta_rule


def test_outputs_and_states_are_those_of_transformers():
    torch.manual_seed(1)
    query, key = torch.randn(2, 2, 70, 2, 8).unbind()
    value = torch.randn(2, 70, 4, 6)
    g, beta = -torch.rand(2, 70, 4), torch.rand(2, 70, 4)
    start = torch.randn(2, 4, 8, 6)
    theirs = torch_chunk_gated_delta_rule(
        query, key, value, g, beta, initial_state=start, output_final_state=True,
        use_qk_l2norm_in_kernel=True)
    ours = delta_rule(*(x.double() for x in (query, key, value, g, beta)),
                      initial_state=start.double(), output_final_state=True)
    for mine, other in zip(ours, theirs, strict=True):
        assert mine.dtype == torch.float64
        assert float((mine - other).abs().max()) < 1e-5
