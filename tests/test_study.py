"""Studies: protocols, samples, and a store that hands out each item and takes in each answer exactly once."""

import contextlib
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import threading
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from restyle.errors import InputError, SettingsError, UnknownName, UsageError
from restyle.evaluation import Outputs
from restyle.study import SamplingSettings, controls, load_protocol, protocol_names, read_judged, sample

sa = pytest.importorskip("sqlalchemy")

from restyle.study import _handing as handing  # noqa: E402
from restyle.study import _store  # noqa: E402
from restyle.study._sampling import choices_from, is_copy, styles_of  # noqa: E402


def outputs(system="ours", sentences=40, start=0, texts=None):
    rows = range(start, start + sentences)
    return Outputs(
        outputs=texts or [f"{system} rewrites sentence number {row}" for row in rows],
        system=system,
        inputs=[f"this is sentence number {row}" for row in rows],
        styles=["modern" if row % 4 else "old" for row in rows],
        targets=["old" if row % 4 else "modern" for row in rows],
        columns={"acc": np.array([float(row % 2) for row in rows])},
    )


STRAP = load_protocol("strap")
ASKED = '[[questions]]\nname = "q"\nasks = "?"'


class TestProtocols:
    @pytest.mark.parametrize("name", protocol_names())
    def test_every_protocol_loads_and_explains_itself_with_an_example(self, name):
        protocol = load_protocol(name)
        assert protocol.name == name
        assert protocol.instructions.strip()
        assert protocol.examples
        assert protocol.paper

    def test_there_is_one_for_each_published_evaluation(self):
        assert {"strap", "li", "xu", "pang-gimpel-pairwise", "pang-gimpel-preference"} < set(protocol_names())

    def test_an_unknown_one_suggests_the_nearest(self):
        with pytest.raises(UnknownName, match="did you mean strap"):
            load_protocol("strapp")

    def test_the_version_changes_with_what_raters_read_and_with_nothing_else(self):
        from dataclasses import replace

        assert replace(STRAP, items=7).version == STRAP.version
        assert replace(STRAP, instructions="Think.").version != STRAP.version

    def test_one_of_your_own_is_a_file(self, tmp_path):
        file = tmp_path / "mine.toml"
        file.write_text(
            'name = "mine"\ntitle = "t"\npaper = ""\ninstructions = "i"\n'
            '[[questions]]\nname = "q"\nasks = "?"\n'
            'choices = [{value = "a", label = "A"}, {value = "b", label = "B"}]\n'
        )
        assert load_protocol(str(file)).question("q").values == ("a", "b")

    @pytest.mark.parametrize(
        ("line", "message"),
        [
            (ASKED, "has no choices"),
            (
                '[[questions]]\nname = "q"\nasks = "?"\nscale = "ordinal"\nchoices = [{value = "x", label = "X"}]',
                "number",
            ),
            ("", "questions is required"),
            ('colour = "red"', "no setting is called 'colour'"),
        ],
    )
    def test_a_broken_one_is_refused_in_one_line(self, tmp_path, line, message):
        file = tmp_path / "mine.toml"
        file.write_text(f'name = "mine"\ntitle = "t"\npaper = ""\ninstructions = "i"\n{line}\n')
        with pytest.raises(SettingsError, match=message):
            load_protocol(str(file))

    def test_choices_can_come_from_the_styles(self):
        protocol = load_protocol("pang-gimpel-style")
        assert not protocol.complete
        assert protocol.with_styles(["new", "old"]).question("style").values == ("new", "old")

    def test_choices_can_be_given(self):
        protocol = load_protocol("xu").with_choices(choices_from(["attribute=female, male"]))
        assert protocol.question("attribute").values == ("female", "male")
        with pytest.raises(UsageError, match="QUESTION=ONE,OTHER"):
            choices_from(["attribute"])


class TestSampling:
    def test_each_system_has_as_many_of_each_direction(self):
        drawn = sample([outputs("a"), outputs("b")], STRAP, SamplingSettings(items=12))
        assert Counter(item.systems for item in drawn) == {("a",): 12, ("b",): 12}
        assert Counter((item.systems, item.target) for item in drawn) == {
            (("a",), "old"): 6, (("a",), "modern"): 6, (("b",), "old"): 6, (("b",), "modern"): 6,
        }  # fmt: skip

    def test_a_rare_direction_is_filled_up_by_the_others(self):
        drawn = sample([outputs("a")], STRAP, SamplingSettings(items=30))
        assert Counter(item.target for item in drawn) == {"modern": 10, "old": 20}

    def test_systems_answer_the_same_inputs(self):
        drawn = sample([outputs("a"), outputs("b", start=10)], STRAP, SamplingSettings(items=20))
        of = {system: {item.input for item in drawn if item.systems == (system,)} for system in "ab"}
        assert of["a"] == of["b"]

    def test_unless_they_need_not(self):
        apart = [outputs("a"), outputs("b", start=100)]
        with pytest.raises(InputError, match="no input in common"):
            sample(apart, STRAP, SamplingSettings(items=5))
        assert len(sample(apart, STRAP, SamplingSettings(items=5, paired=False))) == 10

    def test_the_seed_decides_and_the_order_of_files_does_not(self):
        systems = [outputs("a"), outputs("b")]
        first = sample(systems, STRAP, SamplingSettings(items=9, seed=1))
        assert first == sample(systems[::-1], STRAP, SamplingSettings(items=9, seed=1))
        assert first != sample(systems, STRAP, SamplingSettings(items=9, seed=2))

    def test_names_of_items_tell_no_system(self):
        drawn = sample([outputs("a"), outputs("b")], STRAP, SamplingSettings(items=20))
        first_half = Counter(item.systems for item in sorted(drawn, key=lambda item: item.id)[:20])
        assert 4 < first_half["a",] < 16

    def test_a_copy_is_labelled_without_asking(self):
        texts = ["This is sentence number 0!", *(f"other {row}" for row in range(1, 40))]
        drawn = sample([outputs(texts=texts)], STRAP, SamplingSettings(items=40))
        assert [item.given for item in drawn if item.given] == [{"paraphrase": "2"}]

    @pytest.mark.parametrize(
        ("one", "other", "same"),
        [
            ("Ha, banishment?", "ha the banishment", True),
            ("Is your man secret ?", "Is your man a secret?", True),
            ("it 's late", "its late", False),
            ("He goes.", "He went.", False),
        ],
    )
    def test_copies_are_told_without_case_punctuation_and_articles(self, one, other, same):
        assert is_copy(one, other) is same

    def test_pairs_are_made_of_every_two_systems(self):
        protocol = load_protocol("pang-gimpel-pairwise")
        drawn = sample([outputs("c"), outputs("a"), outputs("b")], protocol, SamplingSettings(items=5))
        assert Counter(item.systems for item in drawn) == {("a", "b"): 5, ("a", "c"): 5, ("b", "c"): 5}

    def test_equal_outputs_are_a_tie_or_are_left_out(self):
        same = [outputs("a", texts=["x"] * 40), outputs("b", texts=["x"] * 20 + ["y"] * 20)]
        ties = sample(same, load_protocol("pang-gimpel-pairwise"), SamplingSettings(items=40))
        assert sum(bool(item.given) for item in ties) == 20
        chosen = sample(same, load_protocol("pang-gimpel-preference"), SamplingSettings(items=20))
        assert all(item.outputs == ("x", "y") for item in chosen)

    @pytest.mark.parametrize(
        ("systems", "protocol", "message"),
        [
            ([outputs("a")], "pang-gimpel-pairwise", "compares two systems"),
            ([outputs("a"), outputs("a")], "strap", "two systems are called 'a'"),
            ([Outputs(["x"], system="a")], "strap", "a has no inputs"),
            ([outputs("a")], "strap", "40 outputs of a, and 150 items are wanted"),
        ],
    )
    def test_what_is_missing_is_told(self, systems, protocol, message):
        with pytest.raises((UsageError, InputError), match=message):
            sample(systems, load_protocol(protocol))

    def test_styles_for_a_question_must_be_few(self):
        assert styles_of([outputs()], load_protocol("xu")) == ["modern", "old"]
        with pytest.raises(InputError, match="name none"):
            styles_of([Outputs(["x"])], load_protocol("xu"))

    def test_controls_need_answers_that_exist(self):
        (made,) = controls([{"input": "a", "output": "b", "answers": {"paraphrase": "0"}}], STRAP)
        assert made.is_control
        with pytest.raises(InputError, match="'7' is no answer to 'paraphrase'"):
            controls([{"output": "b", "answers": {"paraphrase": "7"}}], STRAP)
        with pytest.raises(InputError, match="needs 1 output"):
            controls([{"answers": {"paraphrase": "0"}}], STRAP)


def _postgres_binaries():
    if found := shutil.which("initdb"):
        return Path(found).resolve().parent
    return next(iter(sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)), None)


@pytest.fixture(scope="session")
def postgres():
    """The address of a PostgreSQL server of our own; skips where none is installed."""
    binaries = _postgres_binaries()
    if binaries is None:
        pytest.skip("no PostgreSQL is installed here")
    pytest.importorskip("psycopg")
    # Not among pytest's folders, which each new run of it closes to other users again.
    folder = Path(tempfile.mkdtemp(prefix="restyle-postgres-"))
    run_as = []
    if os.getuid() == 0:  # the server refuses to run as root
        shutil.chown(folder, "postgres")
        run_as = ["runuser", "-u", "postgres", "--"]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = f"-c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories= -c fsync=off"
    data = folder / "data"
    user = "postgres" if run_as else pwd.getpwuid(os.getuid()).pw_name

    def call(*command):
        # Not captured: the server would keep the pipe open.
        subprocess.run([*run_as, *command], check=True, cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    call(binaries / "initdb", "-D", data, "-U", user, "--auth=trust", "--no-sync")
    call(binaries / "pg_ctl", "-D", data, "-l", folder / "log", "-o", options, "-w", "start")
    yield f"postgresql://{user}@127.0.0.1:{port}/postgres"
    call(binaries / "pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")
    shutil.rmtree(folder)


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request, tmp_path):
    """Where a study can be begun: a new file, and an empty database."""
    if request.param == "sqlite":
        return str(tmp_path / "study.sqlite")
    server = request.getfixturevalue("postgres")
    name = f"study_{request.node.name.__hash__() & 0xFFFFFF:x}_{os.urandom(3).hex()}"
    engine = sa.create_engine(server.replace("://", "+psycopg://"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
    engine.dispose()
    return server.rpartition("/")[0] + f"/{name}"


@contextlib.contextmanager
def study(place, protocol=STRAP, systems=None, control_items=(), **settings):
    chosen = SamplingSettings(**{"items": 6, "raters": 2, **settings})
    drawn = sample(systems or [outputs("a"), outputs("b")], protocol, chosen)
    store, _ = _store.create_study(place, protocol, drawn, chosen, control_items=control_items)
    try:
        yield store
    finally:
        store.close()


def joined(store, name):
    return store.rater(store.add_rater(name))


def say(store, rater, task, value="2"):
    return handing.answer(
        store, rater, task.seat, task.turn, {"paraphrase": value}, seconds=1.5, version=store.protocol.version
    )


def work(store, rater, value="2", most=1000):
    """Judge until nothing is left; the items in their order."""
    seen = []
    while len(seen) < most and (task := handing.next_task(store, rater)) is not None:
        seen.append(task.item.id)
        say(store, rater, task, value)
    return seen


class TestStore:
    def test_the_tables_are_those_that_the_migrations_make(self, place):
        from alembic.autogenerate import compare_metadata
        from alembic.migration import MigrationContext

        from restyle.study._schema import metadata

        with study(place) as store, store.engine.connect() as connection:
            assert compare_metadata(MigrationContext.configure(connection), metadata) == []

    def test_a_study_is_opened_again_as_it_was(self, place):
        with study(place) as store:
            kept = store.items
        again = _store.Store(place)
        assert again.items == kept
        assert again.protocol == STRAP
        assert again.settings.items == 6
        again.close()

    def test_a_second_study_in_the_same_store_is_refused(self, place):
        with study(place), pytest.raises(UsageError, match="already"), study(place):
            pass

    def test_tokens_are_stored_hashed_only(self, place):
        with study(place) as store:
            token = store.add_rater("ann")
            with store.engine.connect() as connection:
                stored = connection.execute(sa.text("SELECT token_hash FROM raters")).scalar()
            assert token not in stored
            assert store.rater(token) is not None
            assert store.rater(token + "x") is None
            assert not store.is_admin(token)

    @pytest.mark.parametrize("name", ["", "a\nb", "x" * 101])
    def test_a_name_that_cannot_be_shown_is_refused(self, tmp_path, name):
        with study(tmp_path / "s.sqlite") as store, pytest.raises(UsageError, match="cannot name a rater"):
            store.add_rater(name)

    def test_two_raters_cannot_have_one_name(self, place):
        with study(place) as store:
            store.add_rater("ann")
            with pytest.raises(UsageError, match="already"):
                store.add_rater("ann")

    def test_what_is_written_inside_a_transaction_stands_or_falls_with_it(self, place):
        with study(place) as store:
            ann = joined(store, "ann")
            with contextlib.suppress(KeyError), store.writing():
                say(store, ann, handing.next_task(store, ann))
                assert handing.progress(store, ann).done == 1
                raise KeyError
            assert handing.progress(store, ann).done == 0
            with store.writing():
                say(store, ann, handing.next_task(store, ann))
            assert len(store.judged().votes) == 1

    def test_what_is_no_store_is_told_in_one_line(self, tmp_path):
        with pytest.raises(InputError, match="there is no study"):
            _store.Store(tmp_path / "none.sqlite")
        (tmp_path / "text.sqlite").write_text("hello " * 1000)
        with pytest.raises(InputError, match="is no store of a study"):
            _store.Store(tmp_path / "text.sqlite")
        with pytest.raises(UsageError, match="postgresql:// URL"):
            _store.Store("mysql://here/there")


class TestHandingOut:
    def test_every_item_gets_as_many_raters_as_asked_and_nobody_meets_one_twice(self, place):
        with study(place) as store:
            seen = [work(store, joined(store, name)) for name in ("ann", "bob", "cid")]
            assert [len(each) for each in seen] == [12, 12, 0]
            assert all(len(set(each)) == len(each) for each in seen)
            votes = store.judged().votes
            assert Counter(Counter(vote.item for vote in votes).values()) == {2: 12}

    def test_an_open_item_is_handed_out_again_to_the_same_rater(self, place):
        with study(place) as store:
            ann = joined(store, "ann")
            assert handing.next_task(store, ann) == handing.next_task(store, ann)

    def test_an_answer_sent_twice_is_written_once(self, place):
        with study(place) as store:
            ann = joined(store, "ann")
            task = handing.next_task(store, ann)
            assert say(store, ann, task, "1") is True
            assert say(store, ann, task, "2") is False
            (vote,) = store.judged().votes
            assert vote.answers == {"paraphrase": "1"}
            assert vote.seconds == 1.5
            assert vote.version == STRAP.version

    def test_an_answer_to_what_another_person_holds_is_refused(self, place):
        with study(place) as store:
            ann, bob = joined(store, "ann"), joined(store, "bob")
            task = handing.next_task(store, ann)
            with pytest.raises(handing.Gone):
                say(store, bob, task)
            assert store.judged().votes == []

    @pytest.mark.parametrize("answers", [{}, {"paraphrase": "9"}, {"paraphrase": "1", "mood": "good"}])
    def test_an_answer_that_the_protocol_does_not_know_is_refused(self, tmp_path, answers):
        with study(tmp_path / "s.sqlite") as store:
            ann = joined(store, "ann")
            task = handing.next_task(store, ann)
            with pytest.raises((InputError, UsageError)):
                handing.answer(store, ann, task.seat, task.turn, answers, seconds=1, version="")
            assert store.judged().votes == []

    def test_undo_brings_the_item_back_with_its_answer(self, place):
        with study(place) as store:
            ann = joined(store, "ann")
            first = handing.next_task(store, ann)
            say(store, ann, first, "0")
            second = handing.next_task(store, ann)
            handing.undo(store, ann, first.seat, first.turn)
            handing.undo(store, ann, first.seat, first.turn)  # the page sent it twice
            again = handing.next_task(store, ann)
            assert again.item == first.item
            assert again.answers == {"paraphrase": "0"}
            assert say(store, ann, again, "2")
            assert handing.next_task(store, ann).item == second.item
            assert [vote.answers["paraphrase"] for vote in store.judged().votes] == ["2"]

    def test_only_the_last_answer_can_be_undone(self, place):
        with study(place) as store:
            ann = joined(store, "ann")
            tasks = []
            for _ in range(2):
                tasks.append(handing.next_task(store, ann))
                say(store, ann, tasks[-1])
            with pytest.raises(handing.Gone, match="only the last"):
                handing.undo(store, ann, tasks[0].seat, tasks[0].turn)

    def test_what_was_left_open_for_long_goes_to_another_and_the_late_answer_is_refused(self, place):
        with study(place, raters=1, hours=0.01) as store:
            ann, bob = joined(store, "ann"), joined(store, "bob")
            task = handing.next_task(store, ann)
            with store.writing() as connection:
                connection.execute(sa.text("UPDATE seats SET opened = opened - 60"))
            assert task.item.id in work(store, bob)
            with pytest.raises(handing.Gone):
                say(store, ann, task)
            assert len(store.judged().votes) == 12

    def test_while_no_two_agree_one_more_is_asked(self, place):
        with study(place, systems=[outputs("a", 1)], items=1, raters=3) as store:
            for name, value in zip("abcd", "0120", strict=True):
                assert len(work(store, joined(store, name), value)) == 1
            assert work(store, joined(store, "e")) == []
            assert store.judged().of_item["00001"][-1].answers == {"paraphrase": "0"}

    def test_copies_are_shown_to_nobody(self, place):
        texts = ["This is sentence number 0!", *(f"other {row}" for row in range(1, 4))]
        with study(place, systems=[outputs(sentences=4, texts=texts)], items=4) as store:
            assert len(work(store, joined(store, "ann"))) == 3
            assert len(store.items) == 4

    def test_a_limit_for_each_person_is_kept(self, place):
        with study(place, per_rater=5) as store:
            ann = joined(store, "ann")
            assert handing.progress(store, ann).left == 5
            assert len(work(store, ann)) == 5
            assert handing.progress(store, ann) == handing.Progress(5, 0, handing.progress(store, ann).last)

    def test_control_items_come_between_the_others(self, place):
        control = controls([{"input": "a", "output": "b", "answers": {"paraphrase": "0"}}] * 2, STRAP)
        with study(place, items=10, control_every=4, control_items=control) as store:
            seen = work(store, joined(store, "ann"))
            places = [number for number, item in enumerate(seen) if item.startswith("c")]
            assert len(seen) == 22
            assert len(places) == 2
            assert places[0] < 5 <= places[1] + 1 < 10
            assert seen != work(store, joined(store, "bob"))

    def test_half_of_the_raters_see_the_second_system_as_a(self, place):
        protocol = load_protocol("pang-gimpel-preference")
        with study(place, protocol, items=20, raters=1) as store:
            ann = joined(store, "ann")
            sides = []
            while (task := handing.next_task(store, ann)) is not None:
                sides.append(task.swapped)
                assert task.outputs[task.swapped] == task.item.outputs[0]
                # Always the one that the page calls A.
                handing.answer(store, ann, task.seat, task.turn, {"preference": "first"}, seconds=1, version="")
            assert 4 < sum(sides) < 16
            said = Counter(vote.answers["preference"] for vote in store.judged().votes)
            assert said == {"second": sum(sides), "first": 20 - sum(sides)}

    def test_a_reopened_item_is_judged_afresh_and_keeps_no_vote(self, place):
        with study(place, raters=1) as store:
            ann = joined(store, "ann")
            work(store, ann, "0")
            assert handing.reopen(store, "00003") == 1
            assert store.judged().of_item["00003"] == []
            assert work(store, ann, "2") == ["00003"]
            assert len(store.judged().votes) == 12
            with pytest.raises(handing.Missing, match="no item '99999'"):
                handing.reopen(store, "99999")

    def test_a_stopped_rater_has_no_link_and_holds_nothing(self, place):
        with study(place, raters=1) as store:
            token = store.add_rater("ann")
            ann = store.rater(token)
            task = handing.next_task(store, ann)
            handing.stop_rater(store, ann)
            assert store.rater(token) is None
            with pytest.raises(handing.Gone):
                say(store, ann, task)
            assert len(work(store, joined(store, "bob"))) == 12

    def test_many_at_once_never_take_more_than_there_is(self, place):
        with study(place, items=15, raters=3) as store:
            people = [joined(store, f"rater {number}") for number in range(6)]
            threads = [threading.Thread(target=work, args=(store, rater)) for rater in people for _ in range(2)]
            # Each person works in two windows at once: what one window answered is no news to the other.
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            votes = store.judged().votes
            assert len(votes) == len({(vote.item, vote.rater) for vote in votes}) == 90
            assert set(Counter(vote.item for vote in votes).values()) == {3}


class TestExport:
    def test_a_study_comes_back_from_its_file(self, tmp_path):
        with study(tmp_path / "s.sqlite") as store:
            work(store, joined(store, "ann"), "1")
            judged = store.judged()
        judged.save(tmp_path / "judged.jsonl")
        again = read_judged(tmp_path / "judged.jsonl")
        assert list(again.items) == list(judged.items)
        assert sorted(again.votes, key=lambda vote: vote.item) == sorted(judged.votes, key=lambda vote: vote.item)

    def test_what_is_no_export_is_refused(self, tmp_path):
        (tmp_path / "x.jsonl").write_text('{"id": "1"}\n')
        with pytest.raises(InputError, match="no item of an exported study"):
            read_judged(tmp_path / "x.jsonl")
