"""The Corpus type, loaders on toy copies, and the command line."""

import gzip
import json

import pytest

from restyle.cli import main
from restyle.corpora import Corpus, load, parts_of, rows
from restyle.corpora._content import folded, only, split_of
from restyle.corpora._corpus import Line, shuffled_apart
from restyle.corpora._sample import drawn
from restyle.corpora.leaks import guarded
from restyle.corpora.speech import spoken
from restyle.errors import InputError, OnRequest, UnknownName, UsageError

NOIR = {"noir": {"train": ["`` The rain came down , '' he said .", "He lit up."], "test": ["She left."]}}


def call(capfd, *arguments):
    """Exit code, stdout and stderr of a call."""
    with pytest.raises(SystemExit) as stop:
        main(["corpora", *arguments])
    out, err = capfd.readouterr()
    return stop.value.code, out, err


def write(folder, name, *lines):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(line + "\n" for line in lines)
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())


# --- the type


def test_sentences_are_cleaned_unless_raw_is_asked_for():
    corpus = Corpus.of("noir", NOIR)
    assert corpus.sentences("noir", "train")[0] == '"The rain came down," he said.'
    assert corpus.sentences("noir", "train", raw=True) == NOIR["noir"]["train"]


def test_a_record_says_where_its_sentence_came_from():
    assert next(corpus_records()) == {
        "id": "noir/test/noir/1", "text": "She left.", "style": "noir", "split": "test", "source": "memory", "line": 1
    }  # fmt: skip


def corpus_records():
    return Corpus.of("noir", NOIR).records("noir", "test")


def test_splits_come_in_the_order_train_valid_test():
    sentences = {"a": {"test": ["x"]}, "b": {"valid": ["x"], "train": ["x"]}}
    assert Corpus.of("toy", sentences).splits == ("train", "valid", "test")


def test_a_part_can_be_read_again_and_again():
    corpus = Corpus.of("noir", NOIR)
    assert corpus.sentences("noir", "train") == corpus.sentences("noir", "train")


def test_lines_without_text_are_left_out():
    assert Corpus.of("toy", {"a": {"train": ["", "  ", "x"]}}).sentences("a", "train") == ["x"]


def test_lines_with_references_stay_in_step_with_them_even_when_they_hold_no_text():
    corpus = Corpus(
        "toy", {("a", "test"): lambda: [Line("", "f", 1), Line("x", "f", 2)]},
        references={("a", "test"): lambda: [["p"], ["q"]]},
    )  # fmt: skip
    assert len(corpus.sentences("a", "test")) == len(corpus.references("a", "test")) == 2


@pytest.mark.parametrize(
    ("style", "split", "message"),
    [("nior", "train", "did you mean noir"), ("noir", "valid", "no split of noir/noir is called 'valid'")],
)
def test_a_part_that_is_not_there_is_told_with_those_that_are(style, split, message):
    with pytest.raises(UnknownName, match=message):
        Corpus.of("noir", NOIR).sentences(style, split)


def test_references_that_are_not_there_are_told():
    with pytest.raises(UnknownName, match="part with references"):
        Corpus.of("noir", NOIR).references("noir", "test")


def test_two_sides_of_an_aligned_corpus_are_shuffled_apart():
    lines = [Line(str(number), "f", number) for number in range(1000)]
    left, right = shuffled_apart(lines, "toy/left"), shuffled_apart(lines, "toy/right")
    assert sorted(left, key=lambda line: line.number) == lines
    assert sum(a.number == b.number for a, b in zip(left, right, strict=True)) < 10
    assert left == shuffled_apart(lines, "toy/left")


# --- splits by content


def test_spelling_spacing_and_tokenisation_do_not_change_the_split():
    assert folded("`` I do n't , ' tis  late '' !") == folded('"I don’t, \'tis late!"')
    assert split_of("It is LATE!") == split_of("it is late")


def test_every_line_is_in_one_split_and_a_tenth_is_held_out():
    lines = [Line(f"sentence number {number}", "f", number) for number in range(5000)]
    splits = {split: list(only(split, lines)) for split in ("train", "valid", "test")}
    assert sum(map(len, splits.values())) == 5000
    assert 0.04 < len(splits["valid"]) / 5000 < 0.06
    assert 0.04 < len(splits["test"]) / 5000 < 0.06


# --- loaders, on toy copies


@pytest.fixture
def play(tmp_path):
    write(tmp_path, "train.shakespeare.txt", *(f"Thou sayest the number {n} , i' faith ." for n in range(50)))
    write(tmp_path, "train.modern.txt", *(f"You say the number {n} , really ." for n in range(50)))
    for split in ("valid", "test"):
        write(tmp_path, f"{split}.shakespeare.txt", f"O {split} , art thou so blind a thing ?", "", "Ay .")
        write(tmp_path, f"{split}.modern.txt", f"Oh {split} , are you such a blind thing ?", "", "Yes .")
    return load("shakespeare", tmp_path)


def test_a_copy_of_the_users_own_is_read_from_its_folder(play):
    assert play.sentences("modern", "test")[-1] == "Yes."


def test_aligned_training_data_is_not_aligned_any_more(play):
    sides = [[record["line"] for record in play.records(style, "train")] for style in play.styles]
    assert sorted(sides[0]) == sorted(sides[1]) == list(range(1, 51))
    assert sum(a == b for a, b in zip(*sides, strict=True)) < 10


def test_what_is_tested_leaves_the_training_split(tmp_path, play):
    write(tmp_path, "train.modern.txt", "Well : OH TEST, are you such a blind thing ?", "Yes .")
    assert play.sentences("modern", "train") == ["Yes."]


def test_references_answer_the_sentences_of_their_line(play):
    assert play.sentences("modern", "test") == ["Oh test, are you such a blind thing?", "Yes."]
    assert play.references("modern", "test") == [["O test, art thou so blind a thing?"], ["Ay."]]


def test_no_references_can_be_had_for_training(play):
    with pytest.raises(UnknownName):
        play.references("modern", "train")


def test_yelp_leaves_the_test_of_li_et_al_out_of_training(tmp_path):
    write(tmp_path, "train.0.txt.gz", "the soup was cold and bland .", "the SOUP was n't good at all !")
    write(tmp_path, "dev.0.txt")
    write(tmp_path, "test.0.txt", "the soup wasn't good at all")
    for name in ("train.1.txt.gz", "dev.1.txt", "test.1.txt"):
        write(tmp_path, name)
    assert load("yelp", tmp_path).sentences("negative", "train") == ["the soup was cold and bland."]


def test_formality_is_told_from_the_score_and_the_split_from_the_content(tmp_path):
    formal = [f"The committee of {number} members regrets the delay." for number in range(60)]
    for place, name in enumerate(("train", "tune", "test")):
        rows = [f"{number},0.5,{text}" for number, text in enumerate(formal) if number % 3 == place]
        write(tmp_path, f"{name}.csv", "SID,label,sentence", *rows, "2,0.4,so so", "3,-0.5,gonna go", "4,None,what")
    corpus = load("formality", tmp_path)
    parts = {split: corpus.sentences("formal", split) for split in ("train", "valid", "test")}
    assert sorted(text for texts in parts.values() for text in texts) == sorted(formal)
    assert all(split_of(text) == split for split, texts in parts.items() for text in texts)
    (informal,) = {record["text"]: record for record in corpus.records("informal", split_of("gonna go"))}.values()
    assert informal["score"] == -0.5


def test_polite_is_the_top_and_impolite_the_bottom_quarter_of_each_community(tmp_path):
    header = "Community,Id,Request,Score1,Score2,Score3,Score4,Score5,Normalized Score"
    for community, shift in (("wikipedia", 0), ("stack-exchange", 100)):
        requests = [f"{community},{n},Request {community} {n}?,1,1,1,1,1,{shift + n}" for n in range(400)]
        write(tmp_path, f"politeness_{community}.csv", header, *requests)
    corpus = load("politeness", tmp_path)
    scores = {
        (style, record["community"]): []
        for style in corpus.styles
        for split in corpus.splits
        for record in corpus.records(style, split)
    }
    for style in corpus.styles:
        for split in corpus.splits:
            for record in corpus.records(style, split):
                scores[style, record["community"]].append(record["score"])
    assert {len(of_style) for of_style in scores.values()} == {100}
    assert min(scores["polite", "wikipedia"]) == 300
    assert max(scores["impolite", "stack-exchange"]) == 199


def test_congress_is_split_by_date(tmp_path):
    header = "date\tparty\tgender\tchamber\ttext"
    for party in "DR":
        write(tmp_path, f"congress_{party}.tsv.gz", header,
              f"2021-12-31\t{party}\tF\thouse\tOld news from the hill.", f"2022-01-01\t{party}\t\tsenate\tNewer news.",
              f"2022-09-01\t{party}\tM\thouse\tThe newest.")  # fmt: skip
    corpus = load("congress", tmp_path)
    assert [corpus.sentences("democrat", split) for split in corpus.splits] == [
        ["Old news from the hill."], ["Newer news."], ["The newest."]
    ]  # fmt: skip
    assert next(corpus.records("republican", "train"))["gender"] == "F"
    assert "gender" not in next(corpus.records("republican", "valid"))


def test_congress_is_told_by_gender_too(tmp_path):
    header = "date\tparty\tgender\tchamber\ttext"
    for party in "DR":
        write(tmp_path, f"congress_{party}.tsv.gz", header,
              f"2020-01-01\t{party}\tF\thouse\tSaid by a woman of {party}, at some length.",
              f"2020-01-02\t{party}\t\thouse\tSaid by nobody knows whom.")  # fmt: skip
    corpus = load("congress", tmp_path)
    assert corpus.sentences("female", "train") == [f"Said by a woman of {each}, at some length." for each in "DR"]
    assert corpus.sentences("male", "train") == []
    records = list(corpus.records("female", "train"))
    assert [(each["id"], each["party"]) for each in records] == [
        ("congress/train/female/D/2", "D"), ("congress/train/female/R/2", "R"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        ("Okay.", "Okay."),
        ("{F Uh, } yes <Laughter> /", "Uh, yes"),
        ("[ I, + I ] think so.", "I, I think so."),
        ("It was a tr- train.", "It was a train."),
        ("A well-known e-mail.", "A well-known e-mail."),
        ("That is fine. *listen, is it?", "That is fine."),
        ("[laughter-yes] [noise] no", "yes no"),
        ("Oh, yea-,.", "Oh,."),
        ("<Noise>.", ""),
    ],
)
def test_transcripts_are_cleaned_of_what_was_not_said(marked, plain):
    assert spoken(marked) == plain


def test_gyafc_is_read_from_the_folder_that_its_owner_sends(tmp_path):
    for domain in ("Entertainment_Music", "Family_Relationships"):
        for split in ("train", "tune", "test"):
            for style in ("formal", "informal"):
                write(tmp_path, f"{domain}/{split}/{style}", f"{style} {split} {domain}")
                for number in range(4):
                    write(tmp_path, f"{domain}/{split}/{style}.ref{number}", f"{style} {number} {domain}")
    corpus = load("gyafc", tmp_path)
    assert len(corpus.sentences("formal", "train")) == 2
    assert corpus.references("formal", "test")[0] == [f"informal {number} Entertainment_Music" for number in range(4)]


def test_paranmt_is_streamed_from_the_authors_file(tmp_path):
    write(tmp_path, "para-nmt-50m.txt", "a cat sat .\tthere sat a cat .\t0.9", "torn")
    pairs = rows("paranmt", path=tmp_path)
    assert next(pairs)["paraphrases"] == ["there sat a cat ."]
    with pytest.raises(InputError, match="line 2: 1 columns; three were expected"):
        next(pairs)


def test_a_quoted_cell_may_hold_a_line_break(tmp_path):
    write(tmp_path, "paradetox.tsv", "toxic\tneutral1\tneutral2\tneutral3", 'bad !\t"mild', 'indeed"\t\tcalm')
    assert [row["paraphrases"] for row in rows("paradetox", path=tmp_path)] == [["mild\nindeed", "calm"]]


# --- what cannot be had


@pytest.mark.parametrize("name", ["gyafc", "coha", "switchboard-ldc", "bookcorpus", "lyrics", "twitteraae-tweets"])
def test_a_corpus_on_request_says_where_to_ask_and_what_is_expected(name):
    corpus = load(name)
    with pytest.raises(OnRequest, match=r"https?://.*then name its folder with --path\. Expected in it: "):
        list(corpus.lines(corpus.styles[0], "test"))


def test_a_folder_that_holds_something_else_is_told(tmp_path):
    with pytest.raises(InputError, match=r"holds no test\.modern\.txt, which shakespeare needs"):
        load("shakespeare", tmp_path).sentences("modern", "test")


def test_a_table_is_no_corpus_and_a_corpus_no_table():
    with pytest.raises(UsageError, match="rows"):
        load("quora")
    with pytest.raises(UsageError, match="load"):
        parts_of("shakespeare")


def test_an_unknown_part_of_a_table_is_answered_with_the_nearest():
    with pytest.raises(UnknownName, match="did you mean train"):
        next(rows("quora", "trian"))


def test_an_unknown_corpus_is_answered_with_the_nearest():
    with pytest.raises(UnknownName, match="no corpus is called 'yepl'; did you mean yelp"):
        load("yepl")


# --- drawing


def test_the_same_seed_draws_the_same_sentences_and_another_draws_others(play, tmp_path):
    first, again, other = (drawn("shakespeare", 5, seed=seed, path=str(tmp_path)) for seed in (1, 1, 2))
    assert first == again != other
    assert len(first) == 5


def test_every_sentence_has_the_same_chance_to_be_drawn(play, tmp_path):
    lines = {drawn("shakespeare", 1, style="modern", seed=seed, path=str(tmp_path))[0]["line"] for seed in range(300)}
    assert len(lines) > 45


def test_more_than_there_is_gives_all_there_is(play, tmp_path):
    assert len(drawn("shakespeare", 99, style="modern", split="train", path=str(tmp_path))) == 50


# --- the command line


def test_ls_names_every_corpus_and_goes_into_a_pipe_as_json(capfd):
    code, out, err = call(capfd, "ls", "--format", "json")
    assert (code, err) == (0, "")
    where = {row["corpus"]: row["where"] for row in json.loads(out)}
    assert where["cds"] == where["tweets"] == "to fetch"
    assert where["gyafc"] == "on request"
    assert where["yelp"] == "see info"


def test_info_tells_the_licence_and_the_traps(capfd):
    code, out, _ = call(capfd, "info", "yelp")
    assert code == 0
    assert "CC BY-SA 4.0" in out
    assert "at most 15 words" in out


def test_sample_prints_sentences(capfd, play, tmp_path):
    code, out, err = call(capfd, "sample", "shakespeare", "-n", "3", "--style", "modern", "--path", str(tmp_path))
    assert (code, err) == (0, "")
    assert out.count("You say the number") == 3


def test_stats_count_what_the_loader_gives(capfd, play, tmp_path):
    code, out, _ = call(capfd, "stats", "shakespeare", "--path", str(tmp_path), "--format", "jsonl")
    counts = {(row["part"], row["split"]): row["count"] for row in map(json.loads, out.splitlines())}
    assert code == 0
    assert counts["modern", "train"] == 50
    assert counts["modern", "test"] == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["info", "shakspeare"], "did you mean shakespeare"),
        (["sample", "yelp"], "yelp/dev.0.txt cannot be downloaded: see https://"),
        (["fetch", "gyafc"], "gyafc may not be passed on"),
        (["stats"], "no corpus is on this machine"),
        (["fetch", "cds", "cdz"], "did you mean cds"),
    ],
)
def test_what_goes_wrong_is_told_in_one_line_on_stderr(capfd, arguments, message):
    code, out, err = call(capfd, *arguments)
    assert code > 0
    assert out == ""
    assert err.count("\n") == 1
    assert message in err


def test_a_corpus_may_lack_a_split_of_one_style():
    corpus = guarded("toy", {"a": lambda split: [Line("x", "f", 1)]}, ["train", "test"], without={("a", "train")})
    assert corpus.splits == ("test",)
