from __future__ import annotations

import errno
import math
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")
pytest.importorskip("ctranslate2")

from restyle.assets import cache_home  # noqa: E402
from restyle.errors import Corrupt, OutputError, UnknownName, UsageError  # noqa: E402
from restyle.lm.adapters import Adapter  # noqa: E402
from restyle.lm.bases import base_hash, load_base  # noqa: E402
from restyle.lm.decoding import ENGINES, Candidate, Decoding, Engine, Prompt, open_engine  # noqa: E402
from restyle.lm.decoding import _conversion as conversion  # noqa: E402
from restyle.lm.decoding import _ctranslate2 as fast  # noqa: E402
from restyle.lm.decoding._batches import alike, pieces  # noqa: E402
from restyle.lm.decoding._torch import TorchEngine, _drawn  # noqa: E402
from restyle.lm.subwords import TransformersSubwords  # noqa: E402

TEXTS = [
    "The cat sat on the mat.",
    "Where are you going?",
    "I do not know what he said to her, and she did not tell me.",
    "No!",
    "Rain.",
    "Never give the old man your money!",
    "She was tired; they went home early, and the dog looked at it.",
    "What will you do when the rain comes?",
    "",
    "Zürich: 3,14 € — \u201cça va?\u201d 🙂",
]
GREEDY = Decoding()
BRANCHED = Decoding(candidates=3, branches=True)
DRAWN = Decoding(nucleus=0.9, candidates=3, seed=5)


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Networks of a few dimensions lose more to waiting for a second thread than it takes off them."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def adapter() -> Adapter:
    generator = np.random.default_rng(3)
    layers = {"model.layers.0.self_attn.q_proj": (32, 32), "model.layers.1.mlp.down_proj": (32, 64)}
    return Adapter(
        {
            name: (
                generator.normal(size=(2, inner)).astype(np.float32),
                generator.normal(0, 0.1, size=(outer, 2)).astype(np.float32),
            )
            for name, (outer, inner) in layers.items()
        }
    )


def prompts_of(engine: Engine, texts: list[str], room: int = 16) -> list[Prompt]:
    return [Prompt(tuple(ids), room, text) for text, ids in zip(texts, engine.format(50).prompts(texts), strict=True)]


def texts_of(engine: Engine, texts: list[str], decoding: Decoding = GREEDY, room: int = 16) -> list[list[str]]:
    format_ = engine.format(50)
    found = engine.generate(prompts_of(engine, texts, room), decoding)
    return [[format_.text(each.ids) for each in candidates] for candidates in found]


@pytest.fixture(scope="module")
def engines(toy_base: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Engine]:
    """Every engine over the toy with an adapter; the toy has too few dimensions for eight bits to be true to it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RESTYLE_HOME", str(tmp_path_factory.mktemp("engines")))
        patch.setattr(fast, "compute_type", lambda: "float32")
        patch.setattr(conversion, "compute_type", lambda: "float32")
        opened = {name: open_engine(str(toy_base), adapter, identity="a", engine=name) for name in ENGINES}
        for engine in opened.values():
            engine.format(50)  # or `auto` would convert after this
    return opened


def test_every_engine_writes_the_same_greedy_text(engines: dict[str, Engine]) -> None:
    written = {name: texts_of(engine, TEXTS) for name, engine in engines.items()}
    assert written["ctranslate2"] == written["torch"] == written["auto"]
    assert len({text for (text,) in written["torch"]}) > 5


def test_no_run_of_subwords_is_written_twice_where_that_is_asked_for(
    toy_base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (fast, conversion):
        monkeypatch.setattr(module, "compute_type", lambda: "float32")
    written = {}
    for name in ("torch", "ctranslate2"):
        engine = open_engine(str(toy_base), engine=name)
        prompts = prompts_of(engine, TEXTS, room=40)
        free, held = (engine.generate(prompts, decoding) for decoding in (GREEDY, Decoding(no_repeat=2)))
        written[name] = [best.ids for (best,) in held]
        assert any(most_often(best.ids) > 1 for (best,) in free)
        assert all(most_often(ids) == 1 for ids in written[name] if len(ids) > 1)
    assert written["ctranslate2"] == written["torch"]


def most_often(ids: tuple[int, ...]) -> int:
    """How often the commonest run of two subwords stands in a text."""
    runs = [ids[at : at + 2] for at in range(len(ids) - 1)]
    return max(map(runs.count, runs), default=0)


def test_a_rule_against_repetition_is_for_greedy_decoding_alone() -> None:
    for options in ({"nucleus": 0.6}, {"beams": 2}, {"candidates": 2}):
        with pytest.raises(UsageError, match="no_repeat is for greedy"):
            Decoding(no_repeat=3, **options)


def test_greedy_is_what_transformers_itself_writes(toy_base: Path, engines: dict[str, Engine]) -> None:
    base = load_base(str(toy_base))
    adapter().merge_into(base.model)
    engine = engines["torch"]
    expected = []
    for prompt in prompts_of(engine, TEXTS):
        ids = torch.tensor([prompt.ids])
        made = base.model.generate(
            input_ids=ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=16, pad_token_id=1
        )
        expected.append(engine.format(50).text(made[0, ids.shape[1] :].tolist()))
    assert [text for (text,) in texts_of(engine, TEXTS)] == expected


def test_an_adapter_changes_what_is_written(toy_base: Path, engines: dict[str, Engine]) -> None:
    assert texts_of(open_engine(str(toy_base), engine="torch"), TEXTS) != texts_of(engines["torch"], TEXTS)


def test_scores_are_mean_log_probabilities_of_what_was_written(toy_base: Path, engines: dict[str, Engine]) -> None:
    base = load_base(str(toy_base))
    adapter().merge_into(base.model)
    prompts = prompts_of(engines["torch"], TEXTS)
    for name in ("torch", "ctranslate2"):
        for decoding in (GREEDY, Decoding(candidates=3), BRANCHED):
            for prompt, candidates in zip(prompts, engines[name].generate(prompts, decoding), strict=True):
                assert len(candidates) == decoding.candidates
                assert [each.score for each in candidates] == sorted((each.score for each in candidates), reverse=True)
                for each in candidates:
                    written = [*each.ids, *([1] if each.ended else [])]
                    with torch.no_grad():
                        logits = base.model(input_ids=torch.tensor([[*prompt.ids, *written]])).logits[0]
                    likely = logits.log_softmax(-1)[len(prompt.ids) - 1 : -1]
                    mean = likely.gather(1, torch.tensor(written)[:, None]).mean()
                    assert each.score == pytest.approx(float(mean), abs=2e-4)


def test_what_does_not_end_in_its_room_says_so(engines: dict[str, Engine]) -> None:
    for name in ("torch", "ctranslate2"):
        seen = set()
        for room in (1, 3, 16):
            found = engines[name].generate(prompts_of(engines[name], TEXTS, room), GREEDY)
            assert all(len(each.ids) == room for (each,) in found if not each.ended)
            assert all(len(each.ids) < room for (each,) in found if each.ended)
            seen |= {each.ended for (each,) in found}
        assert seen == {True, False}


def test_the_room_cuts_and_changes_nothing_else(engines: dict[str, Engine]) -> None:
    for name in ("torch", "ctranslate2"):
        short, long = (engines[name].generate(prompts_of(engines[name], TEXTS, room), GREEDY) for room in (4, 16))
        assert [each.ids for (each,) in short] == [each.ids[:4] for (each,) in long]


CASES = st.lists(st.tuples(st.sampled_from(TEXTS), st.sampled_from([3, 16])), min_size=1, max_size=40)


@given(CASES, st.sampled_from([GREEDY, BRANCHED, DRAWN]), st.sampled_from([40, 300, 4096]), st.integers(1, 2))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_sentence_is_written_the_same_whoever_stands_beside_it(
    engines: dict[str, Engine], cases: list[tuple[str, int]], decoding: Decoding, tokens: int, threads: int
) -> None:
    """And so the order is kept, whatever the batches and the threads."""
    torch.set_num_threads(threads)
    for name in ("torch", "ctranslate2") if not decoding.samples else ("torch",):
        engine = engines[name]
        prompts = [replace(prompts_of(engine, [text])[0], room=room) for text, room in cases]
        alone = {case: engine.generate([prompt], decoding)[0] for case, prompt in zip(cases, prompts, strict=True)}
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(engine, "_batch_tokens", tokens)
            assert engine.generate(prompts, decoding) == [alone[case] for case in cases]


def test_threads_of_the_fast_engine_change_nothing(toy_base: Path) -> None:
    folder = conversion.engine_folder(str(toy_base), lambda: None, "")
    texts = [f"{text} {number}" for number in range(30) for text in TEXTS]
    written = [
        texts_of(fast.CTranslate2Engine(folder, threads=threads, batch_tokens=tokens), texts)
        for threads, tokens in ((1, 4096), (2, 4096), (3, 100))
    ]
    assert written[0] == written[1] == written[2]


def test_what_is_drawn_follows_from_seed_and_text(engines: dict[str, Engine]) -> None:
    engine = engines["torch"]
    first, again = texts_of(engine, TEXTS, DRAWN), texts_of(engine, TEXTS, DRAWN)
    assert first == again
    assert texts_of(engines["auto"], TEXTS, DRAWN) == texts_of(engines["auto"], TEXTS, DRAWN)
    assert texts_of(engine, TEXTS, replace(DRAWN, seed=6)) != first
    # More candidates are the same ones and some more.
    more = texts_of(engine, TEXTS, replace(DRAWN, candidates=6))
    assert all(set(few) <= set(many) for few, many in zip(first, more, strict=True))
    # The same subwords, read from another text: other chances.
    prompts = prompts_of(engine, TEXTS)
    other = engine.generate([replace(prompt, key="other") for prompt in prompts], DRAWN)
    assert other != engine.generate(prompts, DRAWN)


def test_a_nucleus_is_the_likeliest_that_reach_p() -> None:
    likely = torch.tensor([0.5, 0.3, 0.15, 0.05]).log()
    points = torch.linspace(0, 0.9999, 1000, dtype=torch.float64)
    rows = likely.expand(1000, 4)
    for nucleus, shares in ((0.4, [1]), (0.5, [1]), (0.7, [5 / 8, 3 / 8]), (1.0, [0.5, 0.3, 0.15, 0.05])):
        drawn = _drawn(rows, points, Decoding(nucleus=nucleus))
        found = np.bincount(drawn.numpy(), minlength=len(shares)) / 1000
        assert found == pytest.approx(shares, abs=0.005)
    cold = np.bincount(_drawn(rows, points, Decoding(nucleus=1, temperature=0.5)).numpy()) / 1000
    assert cold == pytest.approx(np.array([0.25, 0.09, 0.0225, 0.0025]) / 0.365, abs=0.005)


def test_a_nucleus_may_be_wider_than_what_is_sorted_first(monkeypatch: pytest.MonkeyPatch) -> None:
    from restyle.lm.decoding import _torch

    rows = torch.randn(200, 50, generator=torch.Generator().manual_seed(0)).log_softmax(-1)
    points = torch.rand(200, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    whole = _drawn(rows, points, Decoding(nucleus=0.95))
    monkeypatch.setattr(_torch, "_LIKELIEST", 3)
    assert torch.equal(_drawn(rows, points, Decoding(nucleus=0.95)), whole)


def test_a_row_with_a_wide_nucleus_decides_nothing_for_its_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    from restyle.lm.decoding import _torch

    monkeypatch.setattr(_torch, "_LIKELIEST", 8)
    # Half numbers make many subwords equally likely, whose order is a matter of how they were sorted.
    tied = (2 * torch.randn(100, 50, generator=torch.Generator().manual_seed(0))).round().log_softmax(-1)
    points = torch.rand(101, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    together = _drawn(torch.cat([tied, torch.full((1, 50), -math.log(50))]), points, Decoding(nucleus=0.7))
    alone = [_drawn(tied[row : row + 1], points[row : row + 1], Decoding(nucleus=0.7)) for row in range(100)]
    assert torch.equal(together[:100], torch.cat(alone))


def test_a_tiny_nucleus_is_greedy(engines: dict[str, Engine]) -> None:
    assert texts_of(engines["torch"], TEXTS, Decoding(nucleus=1e-6)) == texts_of(engines["torch"], TEXTS)


def test_a_wider_search_finds_what_is_likelier(engines: dict[str, Engine]) -> None:
    for name in ("torch", "ctranslate2"):
        prompts = prompts_of(engines[name], TEXTS)
        greedy, wide = (engines[name].generate(prompts, Decoding(beams=beams)) for beams in (1, 8))
        assert sum(each.score for (each,) in wide) > sum(each.score for (each,) in greedy)


def test_candidates_without_chance_are_different_texts(engines: dict[str, Engine]) -> None:
    for name in ("torch", "ctranslate2"):
        for candidates in texts_of(engines[name], TEXTS[:4], Decoding(candidates=4)):
            assert len(set(candidates)) >= 3


def test_branches_begin_with_the_likeliest_subwords_and_the_greedy_text_is_one(engines: dict[str, Engine]) -> None:
    prompts = prompts_of(engines["torch"], TEXTS)
    written = {}
    for name in ("torch", "ctranslate2"):
        found = engines[name].generate(prompts, BRANCHED)
        greedy = engines[name].generate(prompts, GREEDY)
        for candidates, (best,) in zip(found, greedy, strict=True):
            assert len({each.ids[:1] for each in candidates}) == 3
            assert best.ids in [each.ids for each in candidates] or not best.ids, "which no branch can be"
        written[name] = [{each.ids for each in candidates} for candidates in found]
    assert written["torch"] == written["ctranslate2"]


def test_the_fast_engine_says_who_draws(engines: dict[str, Engine]) -> None:
    with pytest.raises(UsageError, match="use the engine auto or torch"):
        texts_of(engines["ctranslate2"], TEXTS, DRAWN)


@pytest.mark.parametrize(
    "wrong", [{"nucleus": 1.5}, {"nucleus": -0.1}, {"temperature": 0}, {"beams": 0}, {"candidates": 0},
              {"beams": 2, "nucleus": 0.5}, {"nucleus": math.nan}, {"branches": True, "beams": 2},
              {"branches": True, "nucleus": 0.5}],
)  # fmt: skip
def test_wrong_decodings_are_refused(wrong: dict) -> None:
    with pytest.raises(UsageError):
        Decoding(**wrong)


def test_wrong_prompts_and_engines_are_refused(toy_base: Path) -> None:
    with pytest.raises(UsageError):
        Prompt((), 5)
    with pytest.raises(UsageError):
        Prompt((1,), 0)
    with pytest.raises(UnknownName, match="ctranslate2"):
        open_engine(str(toy_base), engine="ctranslate")


def test_nothing_in_is_nothing_out(engines: dict[str, Engine]) -> None:
    for engine in engines.values():
        assert engine.generate([], GREEDY) == []


def test_equal_sentences_are_written_once(engines: dict[str, Engine]) -> None:
    prompts = [Prompt((0, 5, 9), 4, "a"), Prompt((0, 5, 9), 4, "a"), Prompt((0, 5), 4), Prompt((0, 5, 9), 8)]
    assert [len(group) for group in alike(prompts)] == [1, 1, 1]
    assert prompts[0].told_apart(GREEDY) == replace(prompts[0], key="b").told_apart(GREEDY)


@given(st.integers(1, 500), st.integers(0, 100), st.integers(1, 8), st.integers(1, 32))
def test_pieces_are_the_whole_in_its_order(size: int, rows: int, workers: int, least: int) -> None:
    group = [Prompt((number,), 1) for number in range(size)]
    cut = pieces(group, rows, workers, least)
    assert [prompt for piece in cut for prompt in piece] == group
    assert all(1 <= len(piece) <= max(1, rows) for piece in cut)


# ---- the cache of engines


def test_an_engine_is_converted_once_and_found_by_what_it_is_made_of(toy_base: Path) -> None:
    asked: list[str] = []

    def weights() -> Adapter:
        asked.append("weights")
        return adapter()

    first = conversion.engine_folder(str(toy_base), weights, "a")
    assert conversion.engine_folder(str(toy_base), weights, "a") == first
    assert asked == ["weights"]
    assert conversion.engine_folder(str(toy_base), weights, "b") != first
    assert first.parent == cache_home() / "engines"
    assert not [file for file in first.parent.iterdir() if file.name.endswith(".part")]


def test_another_content_under_the_same_name_is_another_engine(toy_base: Path, tmp_path: Path) -> None:
    import shutil

    copy = tmp_path / "copy"
    shutil.copytree(toy_base, copy)
    assert base_hash(str(copy)) == base_hash(str(toy_base))
    weights = copy / "model.safetensors"
    data = bytearray(weights.read_bytes())
    data[-1] ^= 1
    weights.write_bytes(data)
    assert base_hash(str(copy)) != base_hash(str(toy_base))


def test_an_engine_that_is_not_whole_is_told_in_one_line(toy_base: Path) -> None:
    folder = conversion.engine_folder(str(toy_base), lambda: None, "")
    (folder / "model.bin").write_bytes((folder / "model.bin").read_bytes()[:100])
    with pytest.raises(Corrupt, match="remove it and run the same command") as refused:
        fast.CTranslate2Engine(folder)
    assert "\n" not in str(refused.value)


CONVERT = """
from restyle.lm.decoding._conversion import engine_folder
converted = []
folder = engine_folder({base!r}, lambda: converted.append(1), "")
print(folder, len(converted))
"""


def test_processes_that_want_the_same_engine_convert_it_once(toy_base: Path) -> None:
    command = [sys.executable, "-c", CONVERT.format(base=str(toy_base))]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    said = [process.communicate(timeout=120) for process in started]
    assert [process.returncode for process in started] == [0, 0], said
    (first, converted), (second, also) = (out.split() for out, _ in said)
    assert first == second
    assert int(converted) + int(also) == 1
    assert texts_of(fast.CTranslate2Engine(first), TEXTS)


def test_what_a_killed_conversion_left_is_cleared_away(toy_base: Path) -> None:
    whole = conversion.engine_folder(str(toy_base), lambda: None, "")
    left = whole.with_name(f".{whole.name}.123.part")
    whole.rename(left)
    assert conversion.engine_folder(str(toy_base), lambda: None, "") == whole
    assert whole.is_dir() and not left.exists()


def test_a_cache_that_cannot_be_written_is_told_in_one_line(toy_base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = Path(os.environ["RESTYLE_HOME"])
    (home / "engines").write_text("a file where the folder should be")
    with pytest.raises(OutputError, match="cannot write") as refused:
        conversion.engine_folder(str(toy_base), lambda: None, "")
    assert "\n" not in str(refused.value)


def test_a_full_disk_is_told_in_one_line_and_leaves_nothing(toy_base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: object, folder: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(TransformersSubwords, "save", full)
    with pytest.raises(OutputError, match="the disk is full; free some space"):
        conversion.engine_folder(str(toy_base), lambda: None, "")
    assert not [file for file in (cache_home() / "engines").iterdir() if not file.name.endswith(".lock")]


def test_the_longest_unused_engines_make_room(toy_base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversion, "_MOST_ENGINES", 2)
    first, second = (conversion.engine_folder(str(toy_base), lambda: None, name) for name in "ab")
    os.utime(second, (1, 1))
    conversion.engine_folder(str(toy_base), lambda: None, "a")
    third = conversion.engine_folder(str(toy_base), lambda: None, "c")
    assert [folder.is_dir() for folder in (first, second, third)] == [True, False, True]


def test_opening_a_cached_engine_imports_no_torch(toy_base: Path) -> None:
    conversion.engine_folder(str(toy_base), lambda: None, "")
    check = (
        "import sys; from restyle.lm.decoding import open_engine; "
        f"engine = open_engine({str(toy_base)!r}, engine='ctranslate2'); "
        "print(engine.name, [name for name in ('torch', 'transformers', 'peft') if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.split() == ["ctranslate2", fast.compute_type(), "[]"]


def test_candidates_are_ranked_likeliest_first() -> None:
    found = [Candidate((3,), -1.0, True), Candidate((1,), -0.5, True), Candidate((2,), -0.5, False)]
    assert [each.ids for each in sorted(found, key=Candidate.rank)] == [(1,), (2,), (3,)]


def test_half_numbers_are_as_true(toy_base: Path) -> None:
    """The engine that draws by chance computes in the fastest numbers: each sentence still stands for itself."""
    base = load_base(str(toy_base))
    engine = TorchEngine(base.model.bfloat16(), TransformersSubwords(base.tokenizer))
    together = engine.generate(prompts_of(engine, TEXTS), DRAWN)
    assert together == [engine.generate([prompt], DRAWN)[0] for prompt in prompts_of(engine, TEXTS)]


@pytest.mark.models
def test_the_default_base_writes_each_sentence_for_itself(models: Path) -> None:
    """In eight bits, and by chance in the fastest numbers, as everybody will run it."""
    engine = open_engine("smollm2-135m")
    prompts = prompts_of(engine, [text for text in TEXTS if text], room=8)
    for decoding in (GREEDY, Decoding(nucleus=0.9, candidates=2)):
        together = engine.generate(prompts, decoding)
        assert together == [engine.generate([prompt], decoding)[0] for prompt in prompts]
        assert len({candidates[0].ids for candidates in together}) == len(prompts)
