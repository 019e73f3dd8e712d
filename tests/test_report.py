"""The HTML report: one file that asks nobody for anything, trusts no sentence, and works in a real browser."""

import html.parser
import json
import re
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest

from restyle.errors import InputError
from restyle.evaluation import Leaderboard, Outputs, ScoreSettings, compare, score_systems
from restyle.evaluation.report import Embeddings, encoded, html_report, write_report

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
ATTACK = "</script><img src=x onerror=alert(1)> & \u2028 {{ 7 * 7 }} <b>bold</b>"

# The document tells its own colours: the least contrast of text with what lies behind it, as WCAG 2 counts it.
CONTRAST = """<script>
const rgb = (color) => {
  const drawn = document.createElement("canvas").getContext("2d");
  drawn.fillStyle = color;
  drawn.fillRect(0, 0, 1, 1);
  return [...drawn.getImageData(0, 0, 1, 1).data];
};
const linear = (value) => value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4;
const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
const behind = (node) => {
  if (!node) return [255, 255, 255];
  const under = behind(node.parentElement), [r, g, b, a] = rgb(getComputedStyle(node).backgroundColor);
  return [r, g, b].map((value, i) => value * a / 255 + under[i] * (1 - a / 255));
};
const least = {};
for (const node of document.querySelectorAll("h1, h2, p, th, td, small, summary, code, mark, label, .said, svg text")) {
  const style = getComputedStyle(node), ink = rgb(node.closest("svg") ? style.fill : style.color);
  const [low, high] = [light(ink), light(behind(node.closest("svg") || node))].sort((a, b) => a - b);
  least[node.tagName] = Math.min(least[node.tagName] ?? 99, (high + 0.05) / (low + 0.05));
}
const paper = light(behind(document.body)) < 0.2 ? "dark" : "light";
document.title = `${paper} ${Math.min(...Object.values(least)).toFixed(2)} ${JSON.stringify(least)}`;
</script>"""


def scored(outputs):
    (made,) = score_systems([outputs], ScoreSettings(metrics=(), clean=False))
    return made


def card(system="ours", sentences=12, seed=0, predicted=True, outputs=None):
    generator = np.random.default_rng(seed)
    styles = ["bible", "poetry", "tweets"]
    targets = [styles[row % 3] for row in range(sentences)]
    made = Outputs(
        outputs=outputs or [f"{system} says sentence {row} well" for row in range(sentences)],
        system=system,
        inputs=[f"this is sentence {row}" for row in range(sentences)],
        references=[[f"reference {row}"] for row in range(sentences)],
        targets=targets,
        predicted=[styles[place] for place in generator.integers(0, 3, sentences)] if predicted else None,
        columns={
            "acc": generator.integers(0, 2, sentences).astype(float),
            "sim_input": generator.random(sentences).round(4),
            "fl": np.ones(sentences),
        },
    )
    return scored(made)


def embeddings(paraphrases=True):
    generator = np.random.default_rng(0)
    styles = ["bible", "poetry", "tweets"] * 10
    means = {"bible": 0.0, "poetry": 5.0, "tweets": -5.0}
    vectors = np.array([generator.normal(means[style], 1, 6) for style in styles])
    return Embeddings(vectors, styles, generator.normal(0, 1, (30, 6)) if paraphrases else None)


def data_of(page):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1])


class Addresses(html.parser.HTMLParser):
    """Everything in a page that a browser would fetch, and every element."""

    def __init__(self, page):
        super().__init__()
        self.found, self.elements = [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.elements.append(tag)
        self.found += [value for name, value in attributes if name in ("src", "href", "srcset", "action", "poster")]


class TestThePage:
    def test_it_names_no_other_place(self):
        page = html_report(compare([card(), card("theirs", seed=1)], resamples=20), embeddings=embeddings())
        assert Addresses(page).found == []
        assert not re.search(r"https?://|@import|url\(|fetch\(|XMLHttpRequest|import\(", page)
        assert "default-src 'none'" in page

    def test_it_has_every_part_that_its_data_allow(self):
        page = html_report(compare([card(), card("theirs", seed=1)], resamples=20), embeddings=embeddings())
        for part in ("leaderboard", "tradeoff", "tests", "confusion", "styles", "similarity", "clouds", "sentences"):
            assert f'<section id="{part}">' in page

    def test_parts_without_data_are_left_out(self):
        lone = Outputs(["a", "b"], columns={"bleu-like": np.array([3.0, 4.0])})
        page = html_report(scored(lone))
        for part in ("tradeoff", "tests", "confusion", "styles", "similarity", "clouds"):
            assert f'<section id="{part}">' not in page

    def test_the_leaderboard_shows_the_numbers_of_the_text_table(self):
        board = Leaderboard([card()], resamples=50)
        page = html_report(board)
        for cell in re.findall(r"[\d.]+(?= ±)", board.text()):
            assert f">{cell}<small>" in page

    def test_a_target_style_has_its_intervals_and_a_dash_for_what_it_lacks(self):
        made = card(sentences=60)
        made.columns["fl"][::3] = np.nan  # of every sentence that was to be bible
        page = html_report(Leaderboard([made], resamples=50))
        table = re.search(r'<section id="styles">(.*?)</section>', page, re.DOTALL)[1]
        bible, poetry = re.findall(r"<tr><th.*?</tr>", table, re.DOTALL)[1:3]
        part = made.by_target()["poetry"]
        low, high = part.interval("acc", resamples=50)
        assert f">{100 * part['acc']:.1f}<small>{100 * low:.1f} – {100 * high:.1f}</small>" in poetry
        assert ">–</td>" in bible and ">–</td>" not in poetry
        assert "nan" not in table

    def test_no_sentence_name_or_style_becomes_markup(self):
        outputs = [ATTACK] * 12
        hostile = card("<i>evil</i>", outputs=outputs)
        hostile.outputs.targets[0] = hostile.outputs.predicted[0] = "<u>style</u>"
        page = html_report(hostile, title="<s>title</s>")
        assert not {"i", "u", "s", "img", "b"} & set(Addresses(page).elements)
        assert page.count("</script>") == 2
        assert data_of(page)["systems"][0]["output"] == outputs

    def test_sentences_are_embedded_by_column_with_shared_texts_once(self):
        data = data_of(html_report([card(), card("theirs", seed=1)]))
        assert len(data["shared"]) == 1
        assert {system["name"] for system in data["systems"]} == {"ours", "theirs"}
        assert data["columns"] == ["acc", "sim_input", "fl", "J(A,S)", "J"]
        assert data["shared"][0]["target"] == {"names": ["bible", "poetry", "tweets"], "rows": [0, 1, 2] * 4}

    def test_a_value_that_is_missing_is_null(self):
        outputs = Outputs(["a", "b"], columns={"acc": np.array([1.0, np.nan])})
        assert data_of(html_report(scored(outputs)))["systems"][0]["columns"]["acc"] == [1, None]

    def test_the_same_cards_give_the_same_bytes(self):
        assert html_report(card(), embeddings=embeddings()) == html_report(card(), embeddings=embeddings())

    def test_a_page_of_100000_sentences_takes_few_bytes_a_sentence(self):
        page = html_report(Leaderboard([card(sentences=100_000)], level=None))
        assert len(page) < 160 * 100_000

    def test_it_is_written_to_a_file_even_with_half_a_surrogate_pair(self, tmp_path):
        write_report(tmp_path / "deep" / "report.html", card(outputs=["\ud800 broken"] * 12))
        assert "broken" in (tmp_path / "deep" / "report.html").read_text(encoding="utf-8")


class TestStyles:
    def test_confusion_is_in_percent_of_each_target(self):
        outputs = Outputs(
            ["x"] * 4, targets=["a", "a", "a", "b"], predicted=["a", "a", "c", "b"], columns={"acc": np.ones(4)}
        )
        page = html_report(scored(outputs))
        cells = re.findall(r"<td style=\"--shade:[\d.]+\"[^>]*>(\d+)</td>", page)
        assert cells == ["67", "0", "33", "0", "100", "0"]

    def test_a_style_is_wholly_similar_to_itself_and_less_to_others(self):
        from restyle.evaluation.report._styles import similarity

        matrix = similarity(embeddings())
        written = np.array([[float(text) for text, _ in row] for row in matrix.cells])
        np.testing.assert_array_equal(np.diag(written), 1)
        assert written[1, 2] < 0 < 1 == matrix.cells[0][0][1]

    def test_what_rounds_to_nothing_has_no_sign(self):
        from restyle.evaluation.report._styles import similarity

        matrix = similarity(Embeddings(np.array([[1.0, 0.0], [-1e-4, 1.0]]), ["a", "b"]))
        assert [text for row in matrix.cells for text, _ in row] == ["1.00", "0.00", "0.00", "1.00"]

    def test_a_name_stands_inside_the_plot_where_there_is_room_on_either_side(self):
        from restyle.evaluation.report._plots import WIDTH, tradeoff

        names = ["short", "a name that is as long as those of papers are", "another name of forty-five letters or so"]
        cards = [card(name, seed=seed) for seed, name in enumerate(names)]
        for mark in tradeoff(Leaderboard(cards, resamples=10)).marks:
            width = 6.2 * len(mark.name)
            start = mark.label_x - width if mark.anchor == "end" else mark.label_x
            roomy = mark.x + 7 + width <= WIDTH or mark.x - 7 - width > 0
            assert not roomy or (start > 0 and start + width <= WIDTH)

    def test_t_sne_sets_styles_apart(self):
        from restyle.evaluation.report._styles import projection

        originals, paraphrases, styles = projection(embeddings())
        centre = {style: originals[np.array(styles) == style].mean(axis=0) for style in set(styles)}
        nearest = [
            min(centre, key=lambda name, point=point: np.linalg.norm(point - centre[name])) for point in originals
        ]
        assert nearest == styles
        assert paraphrases.shape == originals.shape == (30, 2)
        assert originals.min() >= 0 and originals.max() <= 1

    def test_sixteen_styles_are_drawn_in_sixteen_ways(self):
        from restyle.evaluation.report._plots import clouds

        vectors = np.random.default_rng(0).normal(0, 1, (32, 3))
        drawn = clouds(Embeddings(vectors, [f"style {row % 16:02}" for row in range(32)]))
        assert len({(hue, ring) for _, hue, ring in drawn.legend}) == 16

    @pytest.mark.parametrize(
        ("made", "message"),
        [
            (lambda: Embeddings(np.ones((3, 2)), ["a"]), "vectors of shape \\(3, 2\\) do not fit 1 styles"),
            (lambda: Embeddings(np.ones((1, 2)), ["a"], np.ones((2, 2))), "both need the same"),
            (lambda: html_report(card(), embeddings=Embeddings(np.ones((2, 2)), ["a", "b"])), "give at least 5"),
        ],
    )
    def test_vectors_that_cannot_be_drawn_are_refused(self, made, message):
        with pytest.raises(InputError, match=message):
            made()


@pytest.fixture
def toy_encoder(monkeypatch):
    """Vectors without a network: what was embedded, and by which encoder, is kept."""
    asked = []

    class Toy:
        def vectors(self, texts):
            asked.extend(texts)
            return np.array([[1.0, len(text), text.count("e")] for text in texts])

    pytest.importorskip("torch")
    monkeypatch.setattr("restyle.nets.pretrained.fetched", lambda name: name)
    monkeypatch.setattr("restyle.nets.embedding.embedder", lambda name: Toy())
    return asked


class TestEncodedSentences:
    def inputs_by_style(self, sentences=600):
        made = Outputs(
            [f"output {row}" for row in range(sentences)],
            system="ours",
            inputs=[f"input {row // 2}" for row in range(sentences)],
            styles=["modern" if row % 4 < 2 else "old" for row in range(sentences)],
            targets=["old"] * sentences,
            columns={"acc": np.ones(sentences)},
        )
        return Leaderboard([scored(made)], level=None)

    def test_inputs_of_known_styles_come_first_some_of_each_and_once(self, toy_encoder):
        made = encoded(self.inputs_by_style())
        assert (made.title, made.styles) == ("inputs", ["modern"] * 100 + ["old"] * 100)
        assert len(set(toy_encoder)) == len(toy_encoder) == len(made.vectors) == 200
        assert all(text.startswith("input") for text in toy_encoder)
        assert made.note == "Vectors by minilm-l6 of inputs, at most 100 of each style (seed 0)."

    def test_paraphrases_that_the_records_hold_are_pictured_beside_them(self, toy_encoder):
        board = self.inputs_by_style()
        (given,) = [each.outputs for each in board.rows]
        others = [{"paraphrase": f"said again {text}"} for text in given.inputs]
        made = encoded(Leaderboard([scored(replace(given, others=others, columns={"acc": np.ones(600)}))], level=None))
        assert made.paraphrases.shape == made.vectors.shape == (200, 3)
        assert [f"said again {text}" for text in toy_encoder[:200]] == toy_encoder[200:]

    def test_the_seed_draws_them(self, toy_encoder):
        for seed in (1, 1, 2):
            encoded(self.inputs_by_style(), seed=seed)
        assert toy_encoder[:200] == toy_encoder[200:400] != toy_encoder[400:]

    def test_without_styles_of_inputs_the_outputs_of_the_best_system_are_taken(self, toy_encoder):
        cards = [card("worse", seed=1), card("better", seed=1)]
        cards[0].columns["acc"][:], cards[1].columns["acc"][:] = 0, 1
        made = encoded(Leaderboard(cards, level=None))
        assert made.title == "outputs of better"
        assert all(text.startswith("better says") for text in toy_encoder)
        page = html_report(cards, embeddings=made)
        assert page.count("Vectors by minilm-l6 of outputs of better, at most 100 of each style (seed 0).") == 2
        assert 'aria-label="t-SNE of the outputs of better"' in page

    def test_all_together_are_no_more_than_a_picture_takes(self, toy_encoder):
        styles = [f"style {row % 30}" for row in range(3000)]
        made = Outputs([f"x {row}" for row in range(3000)], targets=styles, columns={"acc": np.ones(3000)})
        assert len(encoded(Leaderboard([scored(made)], level=None)).styles) == 1500

    @pytest.mark.parametrize("targets", [None, ["old"] * 12, ["old", "new"] * 2, [str(row) for row in range(61)]])
    def test_styles_that_make_no_picture_ask_no_encoder(self, targets):
        number = len(targets or "one")
        made = Outputs([f"x {row}" for row in range(number)], targets=targets, columns={"acc": np.ones(number)})
        assert encoded(Leaderboard([scored(made)], level=None)) is None


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    outputs = [ATTACK, *(f"ours says sentence {row} well" for row in range(1, 120))]
    cards = [card(sentences=120, outputs=outputs), card("theirs", sentences=120, seed=1)]
    write_report(folder / "report.html", compare(cards, resamples=20), embeddings=embeddings())
    return folder / "report.html"


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed here")
class TestInABrowser:
    """What the page's own script makes of it, seen through the finished document."""

    def seen(self, page, state="", width=1200, flags=()):
        """The document after the script has run, for a view that stands in the address."""
        command = [
            CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-sync",
            f"--user-data-dir={page.parent / 'profile'}", f"--window-size={width},900", "--virtual-time-budget=3000",
            *flags, "--dump-dom", f"{page.as_uri()}#{state}",
        ]  # fmt: skip
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout

    @staticmethod
    def rows(document):
        body = re.search(r'<table id="browser".*?<tbody>(.*?)</tbody>', document, re.DOTALL)[1]
        return re.findall(r"<tr>(.*?)</tr>", body, re.DOTALL)

    @staticmethod
    def values(rows, column):
        return [re.search(rf'data-name="{re.escape(column)}"[^>]*>([^<]*)<', row)[1] for row in rows]

    def test_sentences_come_by_pages_and_differences_are_marked(self, page):
        document = self.seen(page)
        rows = self.rows(document)
        assert len(rows) == 50
        assert "240 of 240 outputs" in document
        assert "page 1 of 5" in document
        assert '<mark class="added">well</mark>' in rows[1]
        assert '<mark class="removed">this</mark>' in rows[1]

    def test_a_hostile_sentence_is_shown_and_not_run(self, page):
        row = self.rows(self.seen(page, "sort=output&page=1&search=onerror"))[0]
        assert "onerror" in row
        assert "<img" not in row and "<b>" not in row

    def test_it_sorts_by_any_column_in_both_orders(self, page):
        low = self.values(self.rows(self.seen(page, "sort=sim_input")), "sim_input")
        high = self.values(self.rows(self.seen(page, "sort=sim_input&order=-1")), "sim_input")
        assert low == sorted(low, key=float)
        assert high == sorted(high, key=float, reverse=True)
        assert float(low[0]) < float(high[0])

    def test_it_filters_by_text_style_system_and_number(self, page):
        state = "system=theirs&target=poetry&low+acc=1&high+sim_input=0.5"
        rows = self.rows(self.seen(page, state))
        assert rows
        assert set(self.values(rows, "system")) == {"theirs"}
        assert set(self.values(rows, "target")) == {"poetry"}
        assert set(self.values(rows, "acc")) == {"1"}
        assert max(map(float, self.values(rows, "sim_input"))) <= 0.5
        assert "1 of 240 outputs" in self.seen(page, "search=ours+says+sentence+119")

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_every_text_can_be_read_in_light_and_in_dark(self, page, tmp_path, scheme):
        copy = tmp_path / "report.html"
        copy.write_text(page.read_text(encoding="utf-8").replace("</body>", f"{CONTRAST}</body>"), encoding="utf-8")
        document = self.seen(copy, flags=[f"--blink-settings=preferredColorScheme={['dark', 'light'].index(scheme)}"])
        paper, least, told = re.search(r"<title>(\w+) ([\d.]+) (.*?)</title>", document).groups()
        assert paper == scheme
        assert float(least) >= 4.5, told

    def test_nothing_is_wider_than_a_phone(self, page, tmp_path):
        # The document tells its own widths: what sticks out of the page would make all of it scroll sideways.
        widths = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
        probe = f"<script>document.title = 'wide:' + ({widths})</script>"
        copy = tmp_path / "report.html"
        copy.write_text(page.read_text(encoding="utf-8").replace("</body>", f"{probe}</body>"), encoding="utf-8")
        assert "<title>wide:false</title>" in self.seen(copy, width=500)
