"""An encoder with the head that its folder has where it says nothing: the mean of the last rows."""

import torch
from transformers import AutoModel


class MeanOfRows(torch.nn.Module):
    def __init__(self, folder: str, dtype: torch.dtype) -> None:
        super().__init__()
        self.model = AutoModel.from_pretrained(folder, dtype=dtype)
        self.eval()

    def forward(self, tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """[texts, longest] twice, the mask 1 where there is a token; [texts, numbers] in F32."""
        rows = self.model(input_ids=tokens, attention_mask=mask).last_hidden_state.float()
        shares = mask.unsqueeze(-1).float()
        return (rows * shares).sum(1) / shares.sum(1)
