from __future__ import annotations

import gzip
import re
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from restyle.errors import UnknownName
from restyle.text.clean import clean, normalise
from restyle.text.tokenised import detokenise, looks_tokenised
from restyle.text.tokenised_styles import Style, tokenise

# --- normalise -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("tea &amp; milk", "tea & milk"),
        ("a &amp;gt; b &amp;amp;amp; c", "a > b & c"),
        ("it&#39;s &quot;fine&quot;&nbsp;!", 'it\'s "fine" !'),
        ("it &apos;s", "it 's"),
        ("caf&eacute; &#x1F600;", "café 😀"),
        ("tea & amp ; milk", "tea & milk"),
        ("he&squot;s in", "he's in"),
    ],
)
def test_entities_become_their_characters_however_often_they_were_escaped(text: str, wanted: str):
    assert normalise(text) == wanted


@pytest.mark.parametrize(
    "text", ["AT&T; R&D;", "www.a.org/?x=1&lt=3&copy=2", "rock&roll &notaname; & more", "Q&A", "salt &ampersand"]
)
def test_an_ampersand_that_starts_no_entity_stays(text: str):
    assert normalise(text) == text


def test_entities_without_a_semicolon_are_undone_where_no_word_can_be_meant():
    assert normalise("tea &amp milk, 5 &lt 6, it&#39s") == "tea & milk, 5 < 6, it&#39s"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("cafe\u0301", "café"),
        ("a\u00a0b\u2009c\u3000d\u2028e\r\nf\tg", "a b c d e f g"),
        ("\ufeffso\u200bft\u00ad hy\u2060phen", "soft hyphen"),
        ("a\x00b\x07c\x7f", "abc"),
        ("\u201cyes\u201d, it\u2019s \u2018so\u2019", "\"yes\", it's 'so'"),
        ("wait\u2026", "wait..."),
        ("\ufb01ne \ufb02ow", "fine flow"),
        ("don`t, don\u00b4t", "don't, don't"),
        ("it\x92s \x93so\x94", 'it\'s "so"'),
        ("\ud83d\ude00 and \ud83d", "😀 and \ufffd"),
        ("left\u200eright\u202c", "leftright"),
        ("   ", ""),
    ],
)
def test_unicode_variants_of_one_text_become_one(text: str, wanted: str):
    assert normalise(text) == wanted


@pytest.mark.parametrize(
    "text",
    ["it’s", "“yes” – no", "wait… • naïve", "crème brûlée", "£5", "😀", "Ærø", "à la carte"],
)
def test_text_that_was_decoded_with_the_wrong_encoding_comes_back(text: str):
    wrong = text.encode("utf-8").decode("cp1252", errors="ignore")
    if wrong.encode("cp1252") == text.encode("utf-8"):  # five bytes are lost in Windows-1252
        assert normalise(wrong) == normalise(text)
    assert normalise(text.encode("utf-8").decode("latin-1")) == normalise(text)


@pytest.mark.parametrize(
    "text",
    [
        "👩‍👩‍👧‍👦 and 👩🏽‍🚀 and ❤️ and 🏴󠁧󠁢󠁥󠁮󠁧󠁿 and 1️⃣",
        "שלום עולם \u200f!",
        "مرحبا بالعالم",
        "می‌خواهم",
        "São Paulo, MAÇÃ» Ångström, Œuvre, ½ ™",
        "日本語、中文？",
        "«café»",
    ],
)
def test_emoji_accents_and_right_to_left_text_stay_as_they_are(text: str):
    assert normalise(text) == text


# Text in which every rule of cleaning finds something to do.
_NOISE = [
    "&", "amp", ";", "&amp;", "&lt", "&#38;", "gt;", "&#39;", "â€™", "Ã©", "Â", "ï»¿", "`", "´", "'", "''", "``", "'s",
    "n't", "(", ")", "-LRB-", "-RRB-", ":", ",", ".", "...", "..", "@-@", "gon", "na", "can", "not", "'t", "is", "$",
    "5", "%", "s", "Ã", "א", "'tis", "th", "o", "said",
]  # fmt: skip
_CODES = [
    "\u200d",
    "\u200c",
    "\ufeff",
    "\xad",
    "\u2026",
    "\u201c",
    "\x92",
    "\ud83d",
    "\ude00",
    "e",
    "\u0301",
    "\u1fef",
    "\u200f",
]
_noise = st.lists(st.sampled_from([*_NOISE, *_CODES, '"', " ", " ", " "]), max_size=14).map("".join)
_spaced_noise = _noise.map(lambda text: " ".join(re.findall(r"\S{1,2}", text)))


@given(st.text() | st.text(alphabet=st.characters(categories=["Cs", "Cf", "Cc", "Zs", "Mn", "Lu"])) | _noise)
@settings(max_examples=600, deadline=None)
def test_normalising_twice_changes_nothing_more(text: str):
    once = normalise(text)
    assert normalise(once) == once


@given(st.text() | _noise | _spaced_noise)
@settings(max_examples=1000, deadline=None)
def test_cleaning_twice_changes_nothing_more(text: str):
    once = clean(text)
    assert clean(once) == once


@given(st.text() | _noise)
@settings(max_examples=300, deadline=None)
def test_clean_text_is_one_line_that_utf8_can_hold(text: str):
    cleaned = clean(text)
    cleaned.encode("utf-8")
    assert cleaned == " ".join(cleaned.split())


# --- tokenised text --------------------------------------------------------------------------------------------------

_PAIRS = [
    ("do n't go , he said .", "don't go, he said."),
    ("i 'm sure it 's hers , they 'd know , we 'll see .", "i'm sure it's hers, they'd know, we'll see."),
    ("we are gon na try , ca n't we ?", "we are gonna try, can't we?"),
    ("you can not mean it !", "you cannot mean it!"),
    ("`` come in , '' she said , `` and sit . ''", '"come in," she said, "and sit."'),
    ('" come in , " she said , " and sit . "', '"come in," she said, "and sit."'),
    ('He wrote "come in , " and left .', 'He wrote "come in," and left.'),
    ('Come in , " she said .', 'Come in," she said.'),
    ("is that so ? ''", 'is that so?"'),
    ("a ` small ' house", "a 'small' house"),
    ("he says ' come in ' to all", "he says 'come in' to all"),
    ("the students ' books and Ann 's", "the students' books and Ann's"),
    ("th ' other day he was talkin ' o ' that", "th' other day he was talkin' o' that"),
    ("'T is true , I saw 't , is 't not ?", "'Tis true, I saw't, is't not?"),
    ("tea ( or milk ) for $ 5 , 20 % off", "tea (or milk) for $5, 20% off"),
    ("-lrb- see -LSB- 3 -RSB- -rrb-", "(see [3])"),
    ("well @-@ known , and @/@ or", "well-known, and/or"),
    ("don &apos;t say &quot; no &quot; at two o &apos;clock", "don't say \"no\" at two o'clock"),
    ("wait ... what ?!", "wait... what?!"),
    ("he is 5 ' 2 and you don ' t care", "he is 5'2 and you don't care"),
    ("lunch was good : )", "lunch was good :)"),
    ("tea ( as they say : ) was had", "tea (as they say:) was had"),
    ("books , pens , etc. .", "books, pens, etc."),
    ("`` what is '' `` so '' '' here ? ''", '"what is "so" here?"'),
    ("tea - cold - and w/ milk", "tea - cold - and w/ milk"),
]


@pytest.mark.parametrize(("tokenised", "ordinary"), _PAIRS)
def test_tokenised_text_becomes_what_a_person_would_write(tokenised: str, ordinary: str):
    assert detokenise(tokenised) == ordinary
    assert clean(tokenised) == ordinary


@pytest.mark.parametrize("ordinary", [pair[1] for pair in _PAIRS])
def test_ordinary_text_is_left_as_it_is(ordinary: str):
    assert detokenise(ordinary) == ordinary
    assert not looks_tokenised(ordinary)


@pytest.mark.parametrize(
    "text", ["it is so .", "do n't", "`` hm", "-LRB- a", "a @-@ b", "tea , milk", "( a )", 'a " b']
)
def test_one_sign_of_a_tokeniser_is_enough(text: str):
    assert looks_tokenised(text)


@pytest.mark.parametrize(
    ("style", "wanted"),
    [
        ("ptb", "She ca n't say `` no , '' can she ( it 's $ 5 , 20 % off ) ?"),
        ("yelp", "she ca n't say `` no , '' can she ( it 's $ _num_ , _num_ % off ) ?"),
        ("spaced", "She can't say \"no , \" can she ( it's $ 5 , 20 % off ) ?"),
        ("moses", "She can &apos;t say &quot; no , &quot; can she ( it &apos;s $ 5 , 20 % off ) ?"),
    ],
)
def test_each_style_of_tokenised_text_is_written(style: Style, wanted: str):
    assert tokenise("She can't say \"no,\" can she (it's $5, 20% off)?", style) == wanted


def test_addresses_numbers_and_faces_are_one_token():
    text = "at 9:30 see http://a.org/b?c=d, me@a.org or friend(s) :) e.g. 1,000.50"
    assert tokenise(text).split() == [
        "at", "9:30", "see", "http://a.org/b?c=d", ",", "me@a.org", "or", "friend(s)", ":)", "e.g.", "1,000.50",
    ]  # fmt: skip


def test_an_unknown_style_is_refused_with_the_nearest():
    with pytest.raises(UnknownName, match="did you mean ptb"):
        tokenise("a", "ptp")  # type: ignore[arg-type]


# Well-formed ordinary sentences, for which tokenising can be undone: words, contractions, possessives, numbers and
# prices, between single spaces; commas, colons and semicolons after a word; one bracket or one quotation, which does
# not begin with a word that is cut short; one stop or a run of equal ones at the end. Not of the class, since tokenised
# text does not keep them apart: tight dashes (tea--or milk), "can not" for "cannot", single quotes as quotation marks.
_WORDS = [
    "tea",
    "Anna",
    "café",
    "o'clock",
    "well-known",
    "don't",
    "I'd",
    "Ann's",
    "won't",
    "they've",
    "cannot",
    "gonna",
]
_word = st.sampled_from(
    [*_WORDS, "students' books", "rock", "U.S.", "Mr. Hale", "3.14", "$5", "20%", "1,000", "'tis so", "and"]
)
_run = st.lists(st.tuples(_word, st.sampled_from(["", "", "", ",", ";", ":"])), min_size=1, max_size=5).map(
    lambda pairs: " ".join(word + mark for word, mark in pairs)
)
_end = st.sampled_from(["rock.", "tea!", "wait...", "so?", "what?!", "done!!!"])
_sentence = st.tuples(
    _run,
    st.one_of(
        st.just(""),
        _run.map(lambda inside: f"({inside} too)"),
        _run.map(lambda inside: f'"tea {inside} milk"'),
        _run.map(lambda inside: f'"tea {inside} milk!" he said'),
    ),
    _end,
).map(lambda parts: " ".join(part for part in parts if part))


@pytest.mark.parametrize("style", ["ptb", "spaced", "moses"])
@given(sentence=_sentence)
@settings(max_examples=250, deadline=None)
def test_tokenising_a_well_formed_sentence_can_be_undone(style: Style, sentence: str):
    assert detokenise(tokenise(sentence, style)) == sentence


@given(sentence=_sentence)
@settings(max_examples=250, deadline=None)
def test_the_yelp_style_loses_only_capitals_and_numbers(sentence: str):
    masked = re.sub(r"(?<![\w'])\d+(?:[.,]\d+)*(?![\w'])", "_num_", sentence.lower())
    assert detokenise(tokenise(sentence, "yelp")) == masked


@pytest.mark.parametrize("style", ["ptb", "yelp", "spaced", "moses"])
@given(sentence=_sentence)
@settings(max_examples=150, deadline=None)
def test_tokens_survive_ordinary_text(style: Style, sentence: str):
    tokens = tokenise(sentence, style)
    assert tokenise(detokenise(tokens), style) == tokens


@pytest.mark.parametrize(
    "unit", ["&amp;", "&am&#112;", "''", "`` ", "' ", '" ', " .", "( ", ": )", "@-@ ", "Ã©", "n't "]
)
def test_a_long_run_of_one_mark_is_cleaned_in_linear_time(unit: str):
    began = time.process_time()
    clean(unit * (300_000 // len(unit)))
    assert time.process_time() - began < 4


@pytest.mark.parametrize("unit", ["!", ").", "n't", "'", "--", "a,"])
@pytest.mark.parametrize("style", ["ptb", "spaced", "moses"])
def test_a_long_run_of_one_mark_is_tokenised_in_linear_time(style: Style, unit: str):
    began = time.process_time()
    tokenise(unit * (300_000 // len(unit)), style)
    assert time.process_time() - began < 4


# --- measured on the corpora -----------------------------------------------------------------------------------------


def _lines(path: Path) -> list[str]:
    if path.suffix == ".gz":
        with gzip.open(path, "rt", encoding="utf-8") as stream:
            return stream.read().splitlines()
    return path.read_text(encoding="utf-8").splitlines()


_PLAYS = [f"shakespeare/{split}.{side}.txt" for split in ("test", "valid") for side in ("shakespeare", "modern")]
_REVIEWS = [f"yelp/{split}.{label}.txt" for split in ("dev", "test") for label in "01"]


@pytest.mark.data
@pytest.mark.parametrize(
    ("names", "style", "floor"),
    [
        (_PLAYS, "spaced", 0.99),  # measured: 0.995; the rest is `is't` beside `is 't`, and halves of quotations
        (_REVIEWS, "yelp", 0.995),  # measured: 0.998; the rest is faces (`: )`) and stops that were never set apart
    ],
)
def test_real_tokenised_lines_come_back_after_the_round_trip(
    mirror: Path, names: list[str], style: Style, floor: float
):
    lines = [line.strip() for name in names for line in _lines(mirror / name)]
    same = sum(tokenise(detokenise(line), style) == line for line in lines)
    assert same / len(lines) >= floor


_ARTEFACT = re.compile(r"\S [,;:!?.](?: |$)| n't\b| '(?:s|m|re|ve|ll)\b|``|''|-[lr][rsc]b-|@-@|&\w+;", re.IGNORECASE)


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "allowed"),
    [
        ("shakespeare/train.shakespeare.txt", 0),
        ("shakespeare/train.modern.txt", 0),
        ("yelp/train.0.txt.gz", 0.0002),
        ("paraphrase/quora.train.tsv.gz", 0.001),
        ("systems/yelp.outputs.tsv", 0.001),
        ("systems/shakespeare.outputs.tsv", 0.001),
    ],
)
def test_cleaned_corpora_hold_hardly_a_trace_of_a_tokeniser(mirror: Path, name: str, allowed: float):
    texts = [text for line in _lines(mirror / name)[:8000] for text in line.split("\t")]
    left = [text for text in map(clean, texts) if _ARTEFACT.search(text)]
    assert len(left) <= allowed * len(texts), left[:5]
