"""How fast M7 of Pang and Gimpel 2019 learns, beside the obvious way to write it, in the same run.

    python benchmarks/cross_aligned.py                    # 3 rounds of 5 steps each, at the size of the Yelp recipe
    python benchmarks/cross_aligned.py --model M0
    python benchmarks/cross_aligned.py --paper            # at the paper's size: minutes a round

The obvious way is a loop over the words for all that is recurrent, a decode of its own for every loss that reads
transferred sentences, scores of all words at all places, padding too, and float32. Both take the same steps: the same
losses and gradients from the same weights and batches, which is checked first. The sentences are made up, of the
lengths that those of Yelp have. Seconds of one core are what the processor worked, which a busy machine changes least.
The floor is 3 times as fast.
"""

from __future__ import annotations

import argparse
import os
import platform
import time
from statistics import mean

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from restyle.nets.device import hardware
from restyle.nets.gru_lm import GruLm, GruLmSettings, SentenceLm
from restyle.nets.vocabulary import BEGIN, END, PAD
from restyle.rewriters.cross_aligned._batches import Batch, Batches, Sentences
from restyle.rewriters.cross_aligned._discriminators import Discriminator, Discriminators
from restyle.rewriters.cross_aligned._model import Transfer
from restyle.rewriters.cross_aligned._settings import CrossAlignedSettings
from restyle.rewriters.cross_aligned._step import Step

FLOOR = 3.0
# Of the sentences of Yelp with at most 15 words, so many have 1, 2, … 15 (in thousandths).
LENGTHS = (6, 20, 45, 60, 70, 80, 85, 90, 90, 90, 85, 80, 75, 67, 57)


class Obvious:
    """One step, written as one would first write it."""

    def __init__(
        self,
        model: Transfer,
        discriminators: Discriminators,
        style_lms: tuple[SentenceLm, SentenceLm],
        settings: CrossAlignedSettings,
    ) -> None:
        self.model, self.discriminators, self.style_lms, self.settings = model, discriminators, style_lms, settings

    def gradients(self, batch: Batch, epoch: int, mix: Tensor) -> dict[str, Tensor]:
        """Losses, and gradients in `.grad`, of both sides."""
        settings = self.settings
        sides = [part(batch.sentences, style) for style in (0, 1)]
        found = {"rec": sum(self.written(side, self.content(side), side) for side in sides)}
        if batch.texts and batch.paraphrases:
            pairs = [(part(batch.texts, style), part(batch.paraphrases, style)) for style in (0, 1)]
            found["para"] = sum(self.written(others, self.content(texts), texts) for texts, others in pairs)
        if settings.has("cyc"):
            found["cyc"] = sum(self.written(side, self.back(side), side) for side in sides)
        if settings.has("lang"):
            found["lang"] = sum(self.language(side) for side in sides)
        weights = {
            "rec": settings.lambda_rec, "para": settings.lambda_para, "cyc": settings.lambda_cyc,
            "lang": settings.lambda_lang,
        }  # fmt: skip
        total = sum(weights[name] * value for name, value in found.items())
        pairs_of = {"adv": self.discriminators.first, "adv2": self.discriminators.second}
        for name, several in pairs_of.items():
            for style in (0, 1) if several is not None else ():
                real, transferred = self.read(sides[style]), self.transferred(sides[1 - style])[0]
                loss, told = self.against(name, several[style], real, transferred, mix[style])
                weight = settings.lambda_adv if name == "adv" else settings.lambda_adv2 * 2.0**-epoch
                total = total - weight * told
                self.own(several[style], loss)
                found[f"{name}{style}"] = loss
        torch.autograd.backward(total, inputs=list(self.model.parameters()))
        return {name: value.detach() for name, value in found.items()}

    def content(self, side: Sentences) -> Tensor:
        """The content of every sentence."""
        return self.encoded(side.ids, side.lengths, int(side.styles[0]))

    def encoded(self, ids: Tensor, lengths: Tensor, style: int) -> Tensor:
        """The state after the last word, a word at a time."""
        model, gru = self.model, self.model.encoder
        y = model.styles.weight[style].expand(len(ids), -1)
        state = torch.cat([y, y.new_zeros(len(ids), model.content_dim)], dim=1)
        last = state
        for place in range(ids.shape[1]):
            state = torch.gru_cell(model.words(ids[:, place]), state, *weights_of(gru))
            last = torch.where((lengths == place + 1)[:, None], state, last)
        return last[:, model.style_dim :]

    def start(self, style: int, content: Tensor) -> Tensor:
        """(y, z)."""
        return torch.cat([self.model.styles.weight[style].expand(len(content), -1), content], dim=1)

    def written(self, side: Sentences, content: Tensor, read: Sentences) -> Tensor:
        """-log p of the words of sentences, a word at a time."""
        state, logs = self.start(int(read.styles[0]), content), []
        for place in range(side.before.shape[1]):
            state = torch.gru_cell(self.model.words(side.before[:, place]), state, *weights_of(self.model.decoder))
            logs.append(self.model.out(state).log_softmax(1))
        likely = torch.stack(logs, dim=1).gather(2, side.after[..., None]).squeeze(2)
        return -(likely * (side.after != PAD)).sum() / len(content)

    def transferred(self, side: Sentences) -> tuple[Tensor, Tensor, Tensor]:
        """States, words and lengths of the other style's version: encoded and decoded anew for whoever asks."""
        style = 1 - int(side.styles[0])
        state = self.start(style, self.content(side))
        fed = self.model.words.weight[BEGIN].expand(len(state), -1)
        running = torch.ones(len(state), dtype=torch.bool)
        states, words = [], []
        for _ in range(side.after.shape[1]):
            state = torch.gru_cell(fed, state, *weights_of(self.model.decoder))
            logits = self.model.out(state)
            best = logits.argmax(1)
            states.append(state * running[:, None])
            words.append(torch.where(running, best, PAD))
            running = running & (best != END)
            fed = (logits / self.settings.temperature).softmax(1) @ self.model.words.weight
        found = torch.stack(words, dim=1)
        return torch.stack(states, dim=1), found, ((found != PAD) & (found != END)).sum(1)

    def back(self, side: Sentences) -> Tensor:
        """The content of what was transferred."""
        with torch.no_grad():
            _, words, lengths = self.transferred(side)
        return self.encoded(words, lengths.clamp(min=1), 1 - int(side.styles[0]))

    def language(self, side: Sentences) -> Tensor:
        """Cross entropy with the language model of the other style."""
        style = 1 - int(side.styles[0])
        with torch.no_grad():
            words = self.transferred(side)[1]
            before = torch.cat([torch.full_like(words[:, :1], BEGIN), words[:, :-1]], dim=1)
            lm = self.style_lms[style].network
            expected = lm.out(lm(before)).softmax(2)
        state, logs = self.start(style, self.content(side)), []
        for place in range(before.shape[1]):
            state = torch.gru_cell(self.model.words(before[:, place]), state, *weights_of(self.model.decoder))
            logs.append(self.model.out(state).log_softmax(1))
        entropies = -(expected * torch.stack(logs, dim=1)).sum(2)
        return (entropies * (words != PAD)).sum() / len(words)

    def read(self, side: Sentences) -> Tensor:
        """The states of the decoder while it reads the sentence itself."""
        state, states = self.start(int(side.styles[0]), self.content(side)), []
        for place in range(side.before.shape[1]):
            state = torch.gru_cell(self.model.words(side.before[:, place]), state, *weights_of(self.model.decoder))
            states.append(state * (side.after[:, place] != PAD)[:, None])
        return torch.stack(states, dim=1)

    def against(
        self, name: str, judge: Discriminator, real: Tensor, transferred: Tensor, mix: Tensor
    ) -> tuple[Tensor, Tensor]:
        """A discriminator's loss, and what of it the decoder raises."""
        of_real, of_transferred = judged(judge, real), judged(judge, transferred)
        if name == "adv":
            loss = functional.softplus(-of_real).mean() + functional.softplus(of_transferred).mean()
            return loss, loss
        told = (of_transferred - of_real).mean()
        return told + self.penalty(judge, real, transferred, mix), told

    def own(self, judge: Discriminator, loss: Tensor) -> None:
        """A discriminator's own gradient."""
        torch.autograd.backward(loss, inputs=list(judge.parameters()), retain_graph=True)

    def penalty(self, judge: Discriminator, real: Tensor, transferred: Tensor, mix: Tensor) -> Tensor:
        """The gradient penalty."""
        share = mix[:, None, None]
        between = (share * real.detach() + (1 - share) * transferred.detach()).requires_grad_()
        (slope,) = torch.autograd.grad(judged(judge, between).sum(), between, create_graph=True)
        length = (slope.flatten(1).square().sum(1) + 1e-12).sqrt()
        return self.settings.penalty * (length - 1).square().mean()


def judged(judge: Discriminator, states: Tensor) -> Tensor:
    """What a discriminator says, by one convolution for each width."""
    filters, answers, place = judge.filters, [], 0
    states = functional.pad(states, (0, 0, 0, max(0, max(filters.widths) - states.shape[1]))).transpose(1, 2)
    for width in filters.widths:
        block = filters.weight[:, place * filters.filters : (place + width) * filters.filters]  # (D, width * filters)
        kernel = block.view(len(block), width, filters.filters).permute(2, 0, 1)  # (filters, D, width)
        answers.append(functional.conv1d(states, kernel).amax(2))
        place += width
    return judge.out((torch.cat(answers, dim=1) + filters.bias).relu()).squeeze(1)


def part(sentences: Sentences, style: int) -> Sentences:
    """The sentences of one style."""
    half = len(sentences.styles) // 2
    rows = slice(style * half, (style + 1) * half)
    tensors = (sentences.ids, sentences.lengths, sentences.before, sentences.after, sentences.styles)
    return Sentences(*(tensor[rows] for tensor in tensors))


def weights_of(gru: torch.nn.GRU) -> tuple[Tensor, ...]:
    """The weights of the fused GRU, for one step of it."""
    return gru.weight_ih_l0, gru.weight_hh_l0, gru.bias_ih_l0, gru.bias_hh_l0


def made_up(count: int, words: int, generator: np.random.Generator) -> list[list[int]]:
    """Sentences of the lengths of Yelp's, of words as frequent as Zipf says."""
    lengths = generator.choice(np.arange(1, len(LENGTHS) + 1), size=count, p=np.array(LENGTHS) / sum(LENGTHS))
    shares = 1 / np.arange(1, words - 3)
    return [generator.choice(np.arange(4, words), size=length, p=shares / shares.sum()).tolist() for length in lengths]


def networks(
    words: int, settings: CrossAlignedSettings
) -> tuple[Transfer, Discriminators, tuple[SentenceLm, SentenceLm]]:
    """Untrained networks, the same at every call."""
    torch.manual_seed(0)
    lm = GruLmSettings(word_dim=100, hidden=200)
    made = (
        Transfer(words, settings),
        Discriminators(settings),
        (SentenceLm(GruLm(words, lm)), SentenceLm(GruLm(words, lm))),
    )
    for each in made[2]:
        each.network.requires_grad_(False)
    return made


def steps(
    kind: type[Step] | type[Obvious], batches: list[Batch], words: int, settings: CrossAlignedSettings
) -> tuple[float, float]:
    """Sentences a second, by the clock and by the work of one core."""
    model, discriminators, lms = networks(words, settings)
    step = kind(model, discriminators, lms, settings)
    adams = [torch.optim.Adam(network.parameters(), lr=1e-4, fused=True) for network in (model, discriminators)]
    begun = (0.0, 0.0)
    for number, batch in enumerate(batches):
        if number == 1:  # the first warms up
            begun = (time.perf_counter(), time.process_time())
        for adam in adams:
            adam.zero_grad()
        step.gradients(batch, 0, torch.rand(2, len(batch.sentences.styles) // 2))
        for adam in adams:
            adam.step()
    sentences = sum(len(batch.sentences.styles) for batch in batches[1:])
    return sentences / (time.perf_counter() - begun[0]), sentences / (time.process_time() - begun[1])


def largest_difference(batch: Batch, words: int, settings: CrossAlignedSettings) -> float:
    """Between the gradients of both ways, relative to the longest, in float32."""
    found = []
    mix = torch.rand(2, len(batch.sentences.styles) // 2, generator=torch.Generator().manual_seed(0))
    for kind in (Step, Obvious):
        model, discriminators, lms = networks(words, settings)
        kind(model, discriminators, lms, settings).gradients(batch, 0, mix)
        found.append([weights.grad for each in (model, discriminators) for weights in each.parameters()])
    pairs = [(one, other) for one, other in zip(*found, strict=True) if one is not None and other is not None]
    return max(float((one - other).abs().max() / other.abs().max().clamp(min=1e-6)) for one, other in pairs)


def main() -> None:
    """Print sentences a second of both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="M7", choices=[f"M{number}" for number in range(8)])
    parser.add_argument("--steps", type=int, default=5, help="timed steps, after one that warms up")
    parser.add_argument("--rounds", type=int, default=3, help="all are timed in turn so often, as machines have moods")
    parser.add_argument("--paper", action="store_true", help="the paper's size, not the recipe's")
    parser.add_argument("--threads", type=int, help="of each; all cores by default")
    options = parser.parse_args()
    if options.threads:
        torch.set_num_threads(options.threads)
    torch.set_flush_denormal(True)
    size = {} if options.paper else {"style_dim": 40, "content_dim": 160, "word_dim": 64, "filters": 64}
    words = 10_004 if options.paper else 4004
    ways = {
        "restyle": (Step, CrossAlignedSettings(model=options.model, **size)),
        "restyle, float32": (Step, CrossAlignedSettings(model=options.model, precision="float32", **size)),
        "the obvious way": (Obvious, CrossAlignedSettings(model=options.model, precision="float32", **size)),
    }
    generator = np.random.default_rng(0)
    rows = (made_up(4000, words, generator), made_up(4000, words, generator))
    pairs = list(zip(made_up(4000, words, generator), made_up(4000, words, generator), strict=True))
    settings = ways["restyle"][1]
    source = Batches(rows, pairs if settings.has("para") else [], settings)
    batches = [batch for batch, _ in zip(source.epoch(0), range(options.steps + 1), strict=False)]
    difference = largest_difference(batches[0], words, ways["restyle, float32"][1])
    print(
        f"{options.model}, {hardware()}, {os.cpu_count()} cores, {torch.get_num_threads()} threads; torch "
        f"{torch.__version__}, Python {platform.python_version()}; {words:,} words, a state of "
        f"{settings.style_dim + settings.content_dim}, {settings.batch_size} sentences of each style a step\n"
        f"gradients of both ways differ by {difference:.1e} of the largest at most\n"
    )
    rates: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for _ in range(options.rounds):
        for name, (kind, of_way) in ways.items():
            rates[name].append(steps(kind, batches, words, of_way))
    print(f"{'sentences':<20}{'a second':>12}{'a second of one core':>24}")
    means = {name: tuple(mean(column) for column in zip(*each, strict=True)) for name, each in rates.items()}
    for name, (wall, core) in means.items():
        print(f"{name:<20}{wall:>12.0f}{core:>24.0f}")
    for name in ("restyle", "restyle, float32"):
        wall, core = (one / other for one, other in zip(means[name], means["the obvious way"], strict=True))
        print(f"{f'times as fast ({name})':<32}{wall:>8.2f}{core:>16.2f}   (floor {FLOOR:g})")


if __name__ == "__main__":
    main()
