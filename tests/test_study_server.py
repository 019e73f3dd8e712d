"""The server of a study: who may ask, what is answered, and that nothing breaks it."""

import json
import re

import pytest

pytest.importorskip("sqlalchemy")
pytest.importorskip("fastapi")

from fastapi.testclient import TestClient  # noqa: E402

from restyle.study import Item, SamplingSettings, _guard, _server, controls, load_protocol  # noqa: E402
from restyle.study import _handing as handing  # noqa: E402
from restyle.study._limits import Limit  # noqa: E402
from restyle.study._store import create_study  # noqa: E402

STRAP = load_protocol("strap")
ATTACK = "</script><img src=x onerror=alert(1)>"


def items(count=4, systems=("secret-system",)):
    return [
        Item(f"{row:05d}", systems, tuple(f"output {row} {ATTACK}" for _ in systems), f"input {row}", "old", "new")
        for row in range(1, count + 1)
    ]


class Study:
    """A study behind a client, with an admin and one rater."""

    def __init__(self, folder, protocol=STRAP, made=None, per_second=10_000, **settings):
        chosen = SamplingSettings(raters=2, **settings)
        control = controls([{"input": "a", "output": "b", "answers": {"paraphrase": "0"}}], STRAP)
        self.store, self.admin = create_study(
            folder / "study.sqlite", protocol, made or items(), chosen,
            control_items=control if protocol is STRAP else (),
        )  # fmt: skip
        self.rater = self.store.add_rater("ann")
        self.client = TestClient(_server.build_app(self.store, per_second=per_second), raise_server_exceptions=False)

    def get(self, path, token=None, **options):
        return self.client.get(path, headers=self._headers(token), **options)

    def post(self, path, body=None, token=None, **headers):
        return self.client.post(path, json=body or {}, headers={**self._headers(token), **headers})

    def _headers(self, token):
        return {"Authorization": f"Bearer {self.rater if token is None else token}"}

    def answer(self, item, value="2", **changed):
        said = {
            "seat": item["seat"], "turn": item["turn"], "answers": {"paraphrase": value}, "seconds": 2.5,
            "version": STRAP.version,
        }  # fmt: skip
        return self.post("/api/answers", {**said, **changed})


@pytest.fixture
def study(tmp_path):
    made = Study(tmp_path)
    with made.client:
        yield made
    made.store.close()


class TestRating:
    def test_a_whole_study_from_the_instructions_to_the_end(self, study):
        told = study.get("/api/study").json()
        assert told["version"] == STRAP.version
        assert len(told["examples"]) == 3
        shown = study.post("/api/next").json()
        for done in range(1, 5):
            assert shown["progress"]["done"] == done - 1
            said = study.answer(shown["item"]).json()
            assert said["stored"]
            shown = said["screen"]
        assert shown["item"] is None
        assert shown["progress"]["left"] == 0

    def test_the_page_is_told_no_system_and_no_right_answer(self, study):
        everything = study.get("/api/study").text + study.post("/api/next").text
        assert "secret-system" not in everything
        assert "expected" not in everything
        assert "control" not in everything

    def test_the_same_answer_twice_is_stored_once(self, study):
        item = study.post("/api/next").json()["item"]
        first, second = study.answer(item).json(), study.answer(item).json()
        assert (first["stored"], second["stored"]) == (True, False)
        assert first["screen"] == second["screen"]
        assert second["screen"]["progress"]["done"] == 1

    def test_undo_brings_back_the_item_with_its_answer(self, study):
        item = study.post("/api/next").json()["item"]
        last = study.answer(item, "1").json()["screen"]["progress"]["last"]
        shown = study.post("/api/undo", last).json()
        assert shown["item"]["outputs"] == item["outputs"]
        assert shown["item"]["answers"] == {"paraphrase": "1"}
        assert shown["progress"] == {"done": 0, "left": 4, "last": None}
        assert study.post("/api/undo", last).json() == shown

    def test_an_item_that_was_reopened_meanwhile_is_a_conflict(self, study):
        item = study.post("/api/next").json()["item"]
        for each in study.store.items:
            if not each.startswith("c"):
                handing.reopen(study.store, each)
        refused = study.answer(item)
        assert refused.status_code == 409
        assert "go on with the next" in refused.json()["detail"]

    @pytest.mark.parametrize(
        "changed",
        [
            {"answers": {"paraphrase": "7"}}, {"answers": {}}, {"seconds": -1}, {"seat": 10**12}, {"seat": "x"},
            {"version": "<b>"}, {"more": 1}, {"answers": {"paraphrase": "2", "x": "\u0000"}},
        ],
    )  # fmt: skip
    def test_what_no_page_would_send_is_refused_and_not_stored(self, study, changed):
        item = study.post("/api/next").json()["item"]
        assert study.answer(item, **changed).status_code in (404, 409, 422)
        assert study.store.judged().votes == []


class TestAccess:
    @pytest.mark.parametrize("path", ["/api/study", "/api/admin/overview", "/api/admin/items"])
    def test_nothing_is_told_without_a_token(self, study, path):
        assert study.client.get(path).status_code == 401
        assert study.get(path, "wrong").status_code == 401

    def test_a_rater_is_no_admin_and_an_admin_no_rater(self, study):
        assert study.get("/api/admin/overview").status_code == 401
        assert study.post("/api/next", token=study.admin).status_code == 401
        assert study.get("/api/admin/overview", study.admin).status_code == 200

    def test_another_site_cannot_act_for_a_rater(self, study):
        assert study.post("/api/next", Origin="https://evil.example").status_code == 403
        assert study.post("/api/next", Origin="http://testserver").status_code == 200
        assert "set-cookie" not in study.post("/api/next").headers

    def test_whoever_tries_tokens_must_wait(self, study):
        codes = [study.get("/api/study", f"guess {number}").status_code for number in range(30)]
        assert codes[:20] == [401] * 20
        assert set(codes[20:]) == {429}
        assert study.get("/api/study", "another").headers["retry-after"]

    def test_a_rater_does_not_wait_for_a_neighbour_who_tries_tokens(self, study):
        assert study.get("/api/study").status_code == 200
        for number in range(30):
            study.get("/api/study", f"guess {number}")
        assert study.get("/api/study").status_code == 200

    def test_a_token_that_asks_too_often_must_wait(self, tmp_path):
        made = Study(tmp_path, per_second=1)
        codes = [made.get("/api/study").status_code for _ in range(5)]
        assert codes == [200] * 3 + [429] * 2
        made.store.close()

    def test_a_large_body_is_refused(self, study):
        assert study.post("/api/next", {"x": "y" * 70_000}).status_code == 413

    def test_a_limit_refills_with_time(self):
        now = [0.0]
        limit = Limit(2.0, 2, clock=lambda: now[0])
        assert [limit.take("a") for _ in range(3)] == [0, 0, 0.5]
        assert limit.take("b") == 0
        now[0] = 0.5
        assert limit.take("a") == 0


class TestAdmin:
    def test_progress_agreement_and_raters_are_shown(self, study):
        item = study.post("/api/next").json()["item"]
        while item:
            item = study.answer(item).json()["screen"]["item"]
        told = study.get("/api/admin/overview", study.admin).json()
        assert (told["judgements"], told["wanted"], told["items"], told["controls"]) == (4, 8, 4, 1)
        assert told["raters"][0]["name"] == "ann"
        assert told["raters"][0]["votes"] == 4
        assert "token" not in json.dumps(told)

    def test_a_rater_is_added_with_a_link_that_works_and_stopped(self, study):
        token = study.post("/api/admin/raters", {"name": "bob"}, study.admin).json()["token"]
        assert study.post("/api/next", token=token).status_code == 200
        number = study.get("/api/admin/overview", study.admin).json()["raters"][1]["id"]
        assert study.post(f"/api/admin/raters/{number}/stop", {}, study.admin).status_code == 200
        assert study.post("/api/next", token=token).status_code == 401
        assert study.post("/api/admin/raters", {"name": "bob"}, study.admin).status_code == 422
        assert study.post("/api/admin/raters/99/stop", {}, study.admin).status_code == 404

    def test_an_item_is_reopened(self, study):
        item = study.post("/api/next").json()["item"]
        study.answer(item)
        page = study.get("/api/admin/items", study.admin).json()
        (judged,) = [each for each in page["items"] if each["votes"]]
        assert judged["systems"] == ["secret-system"]
        answer = study.post(f"/api/admin/items/{judged['id']}/reopen", {}, study.admin)
        assert answer.json() == {"withdrawn": 1}
        assert study.post("/api/admin/items/nope/reopen", {}, study.admin).status_code == 404


class TestPages:
    @pytest.mark.parametrize("path", ["/", "/admin", "/study.js", "/admin.js", "/study.css"])
    def test_a_page_asks_no_other_place_and_may_not(self, study, path):
        answer = study.client.get(path)
        assert answer.status_code == 200
        assert "http://" not in answer.text
        assert "https://" not in answer.text
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cache-control"] == "no-store"

    @pytest.mark.parametrize("path", ["/study.js", "/admin.js"])
    def test_no_script_writes_markup(self, study, path):
        script = study.client.get(path).text
        for sink in (
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "localStorage",
            "cookie",
        ):
            assert sink not in script

    @pytest.mark.parametrize("ground", ["light", "dark"])
    def test_colours_have_the_contrast_of_wcag_aa(self, study, ground):
        css = study.client.get("/study.css").text
        blocks = re.findall(r":root \{(.*?)\}", css, re.DOTALL)
        colours = dict(re.findall(r"--([\w-]+): #(\w{6})", blocks[0] + (blocks[1] if ground == "dark" else "")))

        def luminance(name):
            channels = [int(colours[name][place : place + 2], 16) / 255 for place in (0, 2, 4)]
            linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
            return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

        def contrast(one, other):
            high, low = sorted((luminance(one), luminance(other)), reverse=True)
            return (high + 0.05) / (low + 0.05)

        for ink, paper in (
            ("ink", "paper"), ("ink", "raised"), ("ink", "chosen"), ("muted", "paper"), ("muted", "raised"),
            ("muted", "chosen"), ("on-accent", "accent"), ("warn", "warn-paper"),
        ):  # fmt: skip
            assert contrast(ink, paper) >= 4.5, (ink, paper)
        for mark, paper in (("line", "paper"), ("accent", "paper"), ("line", "raised")):
            assert contrast(mark, paper) >= 3, (mark, paper)


def fuzzed(operation, token):
    """The status of every answer to requests, good and bad ones, that Schemathesis makes of one operation.

    Each answer is held to the description: its status, its content type, its schema, that a token is needed, and that
    what the description forbids is refused.
    """
    import schemathesis
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis import strategies as st
    from schemathesis.specs.openapi.checks import positive_data_acceptance

    statuses = []

    @given(st.one_of(*(operation.as_strategy(generation_mode=mode) for mode in schemathesis.GenerationMode)))
    @settings(
        max_examples=30, deadline=None, database=None, derandomize=True, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    def ask(case):
        headers = {"Authorization": f"Bearer {token}"}
        answer = case.call(headers=headers)
        # What the description allows may still be no answer to a question, or a name that cannot be printed.
        case.validate_response(answer, headers=headers, excluded_checks=[positive_data_acceptance])
        statuses.append(answer.status_code)

    ask()
    return statuses


def test_no_request_that_the_description_allows_breaks_the_server(tmp_path, monkeypatch):
    schemathesis = pytest.importorskip("schemathesis")
    monkeypatch.setattr(_guard, "_WRONG_BURST", 10**9)  # it tries wrong tokens as well
    made = Study(tmp_path)
    app = _server.build_app(made.store, per_second=1e9)
    description = app.openapi()
    schema = schemathesis.openapi.from_dict(description)
    schema.app = app
    operations = [each.ok() for each in schema.get_all_operations()]
    assert len(operations) == sum(map(len, description["paths"].values())) == 9
    seen = set()
    for operation in operations:
        statuses = fuzzed(operation, made.admin if "/admin/" in operation.path else made.rater)
        assert statuses
        assert max(statuses) < 500, operation.label
        seen |= set(statuses)
    assert {200, 422} <= seen
    made.store.close()
