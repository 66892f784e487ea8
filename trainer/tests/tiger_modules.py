"""Small modules built as GRID and Cornac build theirs, from two stacks of T5's blocks."""

import torch
from torch import nn
from transformers import T5Config, T5EncoderModel
from transformers.models.t5.modeling_t5 import T5Stack

SIZE = {"d_model": 16, "d_kv": 6, "d_ff": 20, "num_heads": 2, "dropout_rate": 0.0}


def stack(layers, is_decoder, **settings):
    return T5Stack(T5Config(**{**SIZE, "vocab_size": 7, "num_layers": layers,
                               "is_decoder": is_decoder, "is_encoder_decoder": False,
                               "use_cache": False, **settings}))


def spread(module, seed):
    """Weights so large that every one of them shows in a logit."""
    torch.manual_seed(seed)
    for name, weight in module.named_parameters():
        nn.init.normal_(weight, 1.0 if name.endswith("layer_norm.weight") else 0.0, 0.4)
    return module.eval()


class Cornac(nn.Module):
    """Levels of any sizes behind a row of padding; no separator, no user."""

    def __init__(self, sizes, **settings):
        super().__init__()
        self.sizes = sizes
        offsets = [1 + sum(sizes[:level]) for level in range(len(sizes))]
        self.register_buffer("offsets", torch.tensor(offsets))
        self.token_emb = nn.Embedding(1 + sum(sizes), SIZE["d_model"], padding_idx=0)
        self.encoder, self.decoder = stack(2, False, **settings), stack(3, True, **settings)
        self.bos = nn.Parameter(torch.randn(1, 1, SIZE["d_model"]))
        self.heads = nn.ModuleList(nn.Linear(SIZE["d_model"], size, bias=False) for size in sizes)

    @torch.no_grad()
    def level_logits(self, history, sid, padding=0):
        """Logits of each level, given the codes before it."""
        tokens = [0] * (padding * len(self.sizes)) + [
            code + int(offset) for one in history for code, offset in zip(one, self.offsets)]
        mask = torch.tensor([[float(token != 0) for token in tokens]])
        seen = self.encoder(inputs_embeds=self.token_emb(torch.tensor([tokens])),
                            attention_mask=mask).last_hidden_state
        before = self.token_emb(torch.tensor([sid[:-1]]) + self.offsets[:-1])
        states = self.decoder(inputs_embeds=torch.cat([self.bos, before], 1),
                              encoder_hidden_states=seen, encoder_attention_mask=mask,
                              use_cache=False).last_hidden_state[0]
        return [head(state) for head, state in zip(self.heads, states)]


class Wrapped(nn.Module):
    pass


class Grid(nn.Module):
    """As many codes in each level, a separator behind each item, a user in front."""

    def __init__(self, levels, codes, bins=0, has_separator=True, is_whole=True):
        super().__init__()
        self.width = codes
        size = SIZE["d_model"]
        encoder = T5EncoderModel(T5Config(**{**SIZE, "vocab_size": 7, "num_layers": 2}))
        encoder.encoder.embed_tokens = None
        encoder.shared = None
        # The base module holds the encoder under a second name.
        self.model = encoder if is_whole else None
        self.encoder, self.decoder = Wrapped(), Wrapped()
        self.encoder.encoder = encoder
        self.decoder.decoder = stack(3, True)
        self.decoder.decoder.embed_tokens = None
        self.decoder.bos_token = nn.Parameter(torch.randn(1, size))
        self.decoder.decoder_mlp = nn.ModuleList(nn.Linear(size, codes, bias=False)
                                                 for _ in range(levels))
        self.item_sid_embedding_table_encoder = nn.Embedding(levels * codes, size)
        self.user_embedding = nn.Embedding(bins, size) if bins else None
        self.sep_token = nn.Parameter(torch.randn(1, size)) if has_separator else None

    def vectors(self, sid):
        places = torch.arange(len(sid)) * self.width + torch.tensor(sid)
        return self.item_sid_embedding_table_encoder(places)

    @torch.no_grad()
    def level_logits(self, history, sid, user=0, padding=0):
        """Logits of each level, given the codes before it; padded as in a batch, on the right."""
        rows = [] if self.user_embedding is None else [
            self.user_embedding(torch.tensor([user % self.user_embedding.num_embeddings]))]
        for one in history:
            rows += [self.vectors(one), *([] if self.sep_token is None else [self.sep_token])]
        told = torch.cat(rows)
        mask = torch.tensor([[1.0] * len(told) + [0.0] * padding])
        filled = torch.cat([told, self.vectors([0]).expand(padding, -1)])[None]
        seen = self.encoder.encoder.encoder(inputs_embeds=filled,
                                            attention_mask=mask).last_hidden_state
        inputs = torch.cat([self.decoder.bos_token, self.vectors(sid[:-1])])[None]
        states = self.decoder.decoder(inputs_embeds=inputs, encoder_hidden_states=seen,
                                      encoder_attention_mask=mask,
                                      use_cache=False).last_hidden_state[0]
        return [head(state) for head, state in zip(self.decoder.decoder_mlp, states)]
