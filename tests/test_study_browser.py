"""A study in a real browser: with the keyboard alone, on a phone, with the connection lost, in light and in dark."""

import contextlib
import shutil
import threading

import pytest

pytest.importorskip("sqlalchemy")
pytest.importorskip("fastapi")
playwright = pytest.importorskip("playwright.sync_api")

from restyle.study import Item, SamplingSettings, load_protocol  # noqa: E402
from restyle.study import _handing as handing  # noqa: E402
from restyle.study._server import bound, build_app  # noqa: E402
from restyle.study._store import create_study  # noqa: E402

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed here")

ATTACK = "</p><img src=x onerror=document.title='broken'><b>bold</b>"
PHONE = {"viewport": {"width": 360, "height": 740}, "is_mobile": True, "has_touch": True, "device_scale_factor": 2}
# The contrast of every text on the page with what lies behind it, and how large and how bold it is.
CONTRASTS = """() => {
  const parse = (text) => (text.match(/[\\d.]+/g) ?? []).map(Number);
  const luminance = ([r, g, b]) => [r, g, b].map((v) => v / 255)
    .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, place) => sum + v * [0.2126, 0.7152, 0.0722][place], 0);
  const behind = (element) => {
    for (; element; element = element.parentElement) {
      const colour = parse(getComputedStyle(element).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const found = [];
  for (const element of document.querySelectorAll("body *")) {
    const text = [...element.childNodes].filter((n) => n.nodeType === 3).map((n) => n.data.trim()).join("");
    if (!text || !element.checkVisibility() || element.closest("button:disabled")) continue;
    const pair = [luminance(parse(getComputedStyle(element).color)), luminance(behind(element))];
    found.push([text.slice(0, 40), (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05)]);
  }
  return found;
}"""


@contextlib.contextmanager
def served(folder, protocol="strap", count=4, raters=1, given=None):
    """A study on a server of its own: the store, its address, the admin's token and a rater's."""
    import uvicorn

    chosen = load_protocol(protocol)
    names = ("ours", "theirs") if chosen.kind == "pair" else ("ours",)
    made = given or [
        Item(f"{row:05d}", names, tuple(f"{name} says {row} {ATTACK}" for name in names), f"asked {row}", "old", "new")
        for row in range(1, count + 1)
    ]
    store, admin = create_study(folder / "study.sqlite", chosen, made, SamplingSettings(raters=raters))
    listening = bound("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(build_app(store), log_level="error", lifespan="off"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield store, f"http://127.0.0.1:{listening.getsockname()[1]}/", admin, store.add_rater("ann")
    finally:
        server.should_exit = True
        thread.join()
        store.close()


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as started:
        launched = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-quic"])
        yield launched
        launched.close()


@pytest.fixture
def opened(browser):
    """Open a page; at the end, it must have asked no other place and must have complained of nothing."""
    contexts, asked, complaints = [], [], []

    def open_page(address, **options):
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "console", lambda message: complaints.append(message.text) if "Security Policy" in message.text else None
        )
        page.goto(address)
        return page

    yield open_page
    for context in contexts:
        context.close()
    # Chromium itself notes every answer that is an error; some tests ask for those.
    assert [each for each in complaints if not each.startswith("Failed to load resource")] == []
    assert {url.split("/")[2].partition(":")[0] for url in asked} == {"127.0.0.1"}


def text_of(page, selector):
    return page.locator(selector).inner_text()


def at(page, progress):
    """Wait until the page has come so far."""
    page.wait_for_selector(f"#progress:text-is('{progress}')")


class TestRating:
    def test_a_whole_study_with_the_keyboard_alone(self, opened, tmp_path):
        with served(tmp_path) as (store, url, _, token):
            page = opened(f"{url}#{token}")
            page.wait_for_selector("#go")
            assert page.locator(".example").count() == 3
            page.keyboard.press("Enter")
            for done, key in enumerate("3210"):
                at(page, f"{done} of 4")
                page.wait_for_selector("#form")
                page.keyboard.press("Enter")  # nothing is sent before there is an answer
                page.keyboard.press(key)
                if key == "0":  # no such choice
                    assert page.locator(":checked").count() == 0
                    page.keyboard.press("?")
                    page.wait_for_selector("#go")
                    page.keyboard.press("Enter")
                    page.keyboard.press("1")
                page.keyboard.press("Enter")
            page.wait_for_selector("text=Thank you!")
            page.keyboard.press("u")
            page.wait_for_selector("#form")
            assert page.locator(":checked").input_value() == "0"
            page.keyboard.press("3")
            page.keyboard.press("Enter")
            page.wait_for_selector("text=Thank you!")
            votes = store.judged().votes
            assert [vote.answers["paraphrase"] for vote in votes] == ["2", "1", "0", "2"]
            assert all(0 < vote.seconds < 60 and vote.version == store.protocol.version for vote in votes)

    def test_several_questions_are_answered_one_after_the_other(self, opened, tmp_path):
        with served(tmp_path, "pang-gimpel-pairwise", count=2) as (store, url, _, token):
            page = opened(f"{url}#{token}")
            page.wait_for_selector("#go")
            page.keyboard.press("Enter")
            for done in range(2):
                at(page, f"{done} of 2")
                page.wait_for_selector("fieldset.current")
                assert text_of(page, "fieldset.current legend") == store.protocol.questions[0].asks
                for key in ("1", "3", "2", "Enter"):
                    page.keyboard.press(key)
            page.wait_for_selector("text=Thank you!")
            for vote in store.judged().votes:
                assert vote.answers["meaning"] == "tie"
                assert {vote.answers["transfer"], vote.answers["fluency"]} == {"first", "second"}

    def test_a_whole_study_on_a_phone(self, opened, tmp_path):
        with served(tmp_path, "li", count=2) as (store, url, _, token):
            page = opened(f"{url}#{token}", **PHONE)
            page.wait_for_selector("#go")
            self.fits(page)
            page.tap("#go")
            for done in range(2):
                at(page, f"{done} of 2")
                for place in range(3):
                    page.locator("fieldset").nth(place).locator("label").nth(4).tap()
                self.fits(page)
                page.tap("#send")
            page.wait_for_selector("text=Thank you!")
            self.fits(page)
            assert {value for vote in store.judged().votes for value in vote.answers.values()} == {"5"}

    @staticmethod
    def fits(page):
        assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
        for target in page.locator("label.choice, main button").all():
            assert target.bounding_box()["height"] >= 44

    def test_a_hostile_text_is_shown_and_not_run(self, opened, tmp_path):
        with served(tmp_path, count=1) as (_, url, _, token):
            page = opened(f"{url}#{token}")
            page.wait_for_selector("#go")
            page.keyboard.press("Enter")
            page.wait_for_selector("#form")
            assert ATTACK in text_of(page, ".text >> nth=1")
            assert page.locator("main img, main b").count() == 0
            assert page.title() != "broken"

    def test_the_link_leads_back_to_where_one_was(self, opened, tmp_path):
        with served(tmp_path) as (_, url, _, token):
            first = opened(f"{url}#{token}")
            first.wait_for_selector("#go")
            first.keyboard.press("Enter")
            for key in ("1", "Enter"):
                first.keyboard.press(key)
            at(first, "1 of 4")
            shown = text_of(first, ".text >> nth=1")
            again = opened(f"{url}#{token}", **PHONE)
            again.wait_for_selector("#form")
            assert text_of(again, ".text >> nth=1") == shown
            assert text_of(again, "#progress") == "1 of 4"

    def test_an_answer_whose_response_was_lost_is_sent_again_and_stored_once(self, opened, tmp_path):
        with served(tmp_path, count=1) as (store, url, _, token):
            page = opened(f"{url}#{token}")
            arrived = []

            def lose(route):
                arrived.append(route.fetch().status)  # the server has had it; the page never hears of it
                route.abort() if len(arrived) < 3 else route.continue_()

            page.route("**/api/answers", lose)
            page.wait_for_selector("#go")
            for key in ("Enter", "3", "Enter", "Enter"):
                page.keyboard.press(key)
            page.wait_for_selector("text=The connection is lost")
            page.wait_for_selector("text=Thank you!")
            assert len(arrived) == 3
            assert len(store.judged().votes) == 1

    def test_who_has_no_link_is_told(self, opened, tmp_path):
        with served(tmp_path, count=1) as (_, url, _, token):
            assert "personal link" in text_of(opened(url), "main")
            page = opened(f"{url}#wrong")
            page.wait_for_selector("text=this link is not known")
            # The link is all that a new page needs, in the same window as well.
            page.goto(f"{url}#{token}")
            page.wait_for_selector("#go")

    def test_two_clicks_are_one_answer(self, opened, tmp_path):
        with served(tmp_path, count=2) as (store, url, _, token):
            page = opened(f"{url}#{token}")
            page.click("#go")
            page.click("label.choice >> nth=0")
            page.dblclick("#send")
            at(page, "1 of 2")
            assert page.locator(":checked").count() == 0
            assert len(store.judged().votes) == 1


class TestAdmin:
    def test_progress_is_shown_an_item_reopened_and_a_rater_invited(self, opened, tmp_path):
        with served(tmp_path, count=2, raters=2) as (store, url, admin, token):
            for rater in (store.rater(token), store.rater(store.add_rater("bob"))):
                while (task := handing.next_task(store, rater)) is not None:
                    said = {"paraphrase": str(int(task.item.id) % 3)}
                    handing.answer(store, rater, task.seat, task.turn, said, seconds=2, version="")
            page = opened(f"{url}admin#{admin}")
            page.wait_for_selector("#items td")
            assert "4 of 4 judgements" in text_of(page, "#summary")
            assert "paraphrase" in text_of(page, "#agreement")
            assert "ours" in text_of(page, "#items")
            assert page.locator("table img, table b").count() == 0
            page.click("#items button >> nth=0")
            page.wait_for_selector("text=2 of 4 judgements")
            page.fill("input[name=name]", "cid")
            page.keyboard.press("Enter")
            page.wait_for_selector("#link:not([hidden])")
            assert store.rater(text_of(page, "#link code").rpartition("#")[2]) is not None
            page.click("#raters button >> nth=0")
            page.wait_for_selector("text=ann (stopped)")
            assert store.rater(token) is None

    def test_who_is_no_admin_sees_nothing(self, opened, tmp_path):
        with served(tmp_path, count=1) as (_, url, _, token):
            page = opened(f"{url}admin#{token}")
            page.wait_for_selector("text=this is not the admin's link")
            assert page.locator("td").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_has_the_contrast_of_wcag_aa(opened, tmp_path, scheme):
    with served(tmp_path, "pang-gimpel-pairwise", count=2, raters=2) as (store, url, admin, token):
        page = opened(f"{url}#{token}", color_scheme=scheme)
        seen = []

        def look():
            page.wait_for_timeout(150)  # colours fade
            seen.extend(page.evaluate(CONTRASTS))

        page.wait_for_selector("#go")
        look()
        page.click("#go")
        for place in range(3):
            page.locator("fieldset").nth(place).locator("label").nth(1).click()
        look()
        page.click("#send")
        page.wait_for_selector("#undo")
        look()
        page.evaluate("document.getElementById('trouble').hidden = false")
        page.evaluate("document.getElementById('trouble').textContent = 'The connection is lost.'")
        look()
        page.goto("about:blank")
        page.goto(f"{url}admin#{admin}")
        page.wait_for_selector("#items td")
        look()
        assert len(seen) > 60
        assert [(text, ratio) for text, ratio in seen if ratio < 4.5] == []
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (paper == "rgb(255, 255, 255)") == (scheme == "light")
