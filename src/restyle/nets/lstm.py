"""An LSTM that reads one sentence and writes another, with global attention (Luong et al. 2015), never pretrained.

    begin  input …  |  separator  output …
    └── encoder ──┘    └───── decoder ────┘     its first state is the encoder's last; it attends to all of them

What GPT-2 is replaced by in STRAP's Table 3 (-GPT2; App. A.4 names two layers of 500 on each side). To all who tune
and decode it is a causal language model of transformers: one sequence in, a state for each place out; the separator
says where reading ends and writing begins. A step is not fed the attention of the step before it, so that in training
all steps of a sentence are computed at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    GenerationMixin,
    PreTrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)
from transformers.modeling_outputs import BaseModelOutput, CausalLMOutput

from restyle.nets.pretrained import hushed
from restyle.records import writing_to
from restyle.settings import setting

_BEGIN, _END, _SEPARATOR = "<begin>", "<end>", "\n"
# The two layers' (h, c), each (layers, B, H).
State = tuple[Tensor, Tensor]


@dataclass(frozen=True)
class LstmSettings:
    """How large it is."""

    vocabulary: int = setting(8000, "subwords, learned from the training pairs", minimum=300)
    width: int = setting(500, "of embeddings and states (STRAP App. A.4)", minimum=4)
    layers: int = setting(2, "of the encoder and of the decoder each (STRAP App. A.4)", minimum=1)
    dropout: float = setting(0.3, "between layers, and before the vocabulary", minimum=0, maximum=0.9)


class LstmConfig(PreTrainedConfig):  # type: ignore[no-untyped-call]
    """What transformers keeps beside the weights."""

    model_type = "restyle-lstm"
    separator_id: int = 0
    width: int = 500
    layers: int = 2
    dropout: float = 0.3
    vocab_size: int = 8000
    tie_word_embeddings: bool = False


@dataclass
class LstmCache:
    """What is kept of the rows while they are written: what was read of each, and where its network stands."""

    state: State | None = None
    memory: Tensor | None = None  # (B, S, H)

    def batch_select_indices(self, rows: Tensor) -> None:
        """Go on with these rows alone, in this order."""
        if self.memory is not None:
            self.memory = self.memory[rows]
        if self.state is not None:
            self.state = (self.state[0][:, rows], self.state[1][:, rows])


class _Body(nn.Module):
    """Encoder, decoder and attention: the network beneath the vocabulary."""

    def __init__(self, config: LstmConfig) -> None:
        super().__init__()
        width, shape = config.width, {"num_layers": config.layers, "batch_first": True, "dropout": config.dropout}
        self.separator = config.separator_id
        self.embed = nn.Embedding(config.vocab_size, width)
        self.encoder = nn.LSTM(width, width, **shape)
        self.decoder = nn.LSTM(width, width, **shape)
        self.general = nn.Linear(width, width, bias=False)  # W_a of the score "general", Luong Eq. 8
        self.joined = nn.Linear(2 * width, width, bias=False)  # W_c, Luong Eq. 5
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, input_ids: Tensor, **unused: Any) -> BaseModelOutput:
        """A state for each place of whole sequences, (B, T, H); zeros where the input is read."""
        # Recurrence adds up what bfloat16 rounds off; the vocabulary layer is most of the work, and may do with it.
        with torch.autocast(input_ids.device.type, enabled=False):
            return BaseModelOutput(last_hidden_state=self._whole(input_ids))

    def _whole(self, input_ids: Tensor) -> Tensor:
        starts = (input_ids == self.separator).int().argmax(1)  # (B,): where each row begins to write
        embedded = self.dropout(self.embed(input_ids))  # (B, T, H)
        packed = pack_padded_sequence(embedded, starts.cpu(), batch_first=True, enforce_sorted=False)
        read, state = self.encoder(packed)
        memory = pad_packed_sequence(read, batch_first=True)[0]  # (B, S, H)
        places = torch.arange(input_ids.shape[1], device=input_ids.device)
        readable = places[: memory.shape[1]] < starts[:, None]  # (B, S)
        # Each row moved so that its separator comes first, and back again.
        there = (places + starts[:, None]).clamp(max=len(places) - 1)
        back = places - starts[:, None]
        written = self._attended(self.decoder(_at(embedded, there), state)[0], memory, readable)
        return torch.where((back >= 0)[..., None], _at(written, back.clamp(min=0)), 0.0)

    def step(self, input_ids: Tensor, cache: LstmCache) -> Tensor:
        """States of some more places of rows that all stand at the same one, (B, T, H)."""
        if cache.memory is None:  # all that stands before the separator, at once
            cache.memory, cache.state = self.encoder(self.embed(input_ids))
            return torch.zeros_like(cache.memory)
        written, cache.state = self.decoder(self.embed(input_ids), cache.state)
        readable = torch.ones(cache.memory.shape[:2], dtype=torch.bool, device=written.device)
        return self._attended(written, cache.memory, readable)

    def _attended(self, states: Tensor, memory: Tensor, readable: Tensor) -> Tensor:
        """The decoder's states (B, T, H) with what each finds among the encoder's (B, S, H), where `readable`."""
        scores = self.general(states) @ memory.transpose(1, 2)  # (B, T, S)
        weights = scores.masked_fill(~readable[:, None], float("-inf")).softmax(-1)
        found: Tensor = self.dropout(torch.tanh(self.joined(torch.cat([weights @ memory, states], -1))))
        return found


class LstmForCausalLM(PreTrainedModel, GenerationMixin):  # type: ignore[no-untyped-call]
    """The network with its vocabulary layer."""

    config_class = LstmConfig
    base_model_prefix = "model"
    main_input_name = "input_ids"

    def __init__(self, config: LstmConfig) -> None:
        super().__init__(config)
        self.model = _Body(config)
        self.lm_head = nn.Linear(config.width, config.vocab_size, bias=False)
        self.post_init()  # type: ignore[no-untyped-call]

    def new_cache(self) -> LstmCache:
        """What rows are written with, one step after another."""
        return LstmCache()

    def get_output_embeddings(self) -> nn.Module:
        """The vocabulary layer."""
        head: nn.Module = self.lm_head
        return head

    def get_input_embeddings(self) -> nn.Module:
        """The embedding of subwords."""
        embed: nn.Module = self.model.embed
        return embed

    def prepare_inputs_for_generation(  # type: ignore[override]
        self, input_ids: Tensor, attention_mask: Tensor | None = None, **unused: Any
    ) -> dict[str, Tensor]:
        """All that is written so far, read anew: only the samples that a training shows, and beams, come this way."""
        return {"input_ids": input_ids}

    @classmethod
    def _supports_default_dynamic_cache(cls) -> bool:
        return False

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor | None = None, labels: Tensor | None = None,
        past_key_values: LstmCache | None = None, logits_to_keep: Tensor | int = 0, **unused: Any,
    ) -> CausalLMOutput:  # fmt: skip
        """Logits of what comes next, (B, T, V), and the loss where there are labels."""
        if past_key_values is None:
            states = self.model(input_ids).last_hidden_state
        else:
            states = self.model.step(input_ids, past_key_values)
        kept = states[:, logits_to_keep] if isinstance(logits_to_keep, Tensor) else states
        logits = self.lm_head(kept)
        loss = None
        if labels is not None:
            loss = functional.cross_entropy(logits[:, :-1].flatten(0, 1).float(), labels[:, 1:].flatten())
        return CausalLMOutput(loss=loss, logits=logits)


AutoConfig.register(LstmConfig.model_type, LstmConfig)
AutoModelForCausalLM.register(LstmConfig, LstmForCausalLM)


def write_untrained(texts: Sequence[str], settings: LstmSettings, seed: int, folder: Path) -> None:
    """An LSTM that has learned nothing but the subwords of some texts, as a folder that transformers reads."""
    tokenizer = _learned(texts, settings.vocabulary)
    [separator] = tokenizer.encode(_SEPARATOR, add_special_tokens=False)
    config = LstmConfig(
        vocab_size=len(tokenizer), separator_id=separator, width=settings.width, layers=settings.layers,
        dropout=settings.dropout,
    )  # fmt: skip
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = LstmForCausalLM(config)
        for weights in model.parameters():
            nn.init.uniform_(weights, -0.1, 0.1)  # as OpenNMT begins
    with writing_to(folder), hushed():
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)


def _learned(texts: Sequence[str], vocabulary: int) -> Any:
    """Byte-pair encoding whose bytes spell what the texts lack; the separator is one of them, and in no pair."""
    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary, special_tokens=[_BEGIN, _END], show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )  # fmt: skip
    raw.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=raw, bos_token=_BEGIN, eos_token=_END, pad_token=_END
    )


def _at(values: Tensor, places: Tensor) -> Tensor:
    """Of each row, what stands at its places: (B, T, H) by (B, T)."""
    return values.gather(1, places[..., None].expand(-1, -1, values.shape[-1]))
