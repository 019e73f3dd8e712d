import numpy as np
import pytest

from restyle.errors import InputError, UsageError
from restyle.metrics import Batch, metrics

INPUTS = ["Are you crazy?", "We found him by the river.", "Rain."]
REFERENCES = [["Are you mad?"], ["They found him near the river."], ["It is raining.", "The rain is falling."]]
OUTPUTS = ["Art thou crazy?", "We found him by the river!", "Nothing but rain, I say."]


# Judged by what a wheel carries.
WITH_MODELS = {"acc", "acc-prob", "sim_input", "sim_ref", "sim-glove", "sim-glove-ref", "fl", "fl-prob", "ppl"}
# Their idf is counted in all that is scored.
OF_ALL_SENTENCES = {"sim-glove", "sim-glove-ref"}


# Asked of gauges that a corpus has to have first: test_gauges.py.
WITH_GAUGES = {"acc-cnn", "pp"}


@pytest.fixture(
    params=[
        pytest.param(name, marks=[pytest.mark.models] * (name in WITH_MODELS))
        for name in metrics.names()
        if name not in WITH_GAUGES
    ]
)
def name(request):
    if request.param in WITH_MODELS:
        pytest.importorskip("torch")
        request.getfixturevalue("models")
    return request.param


def score(name, inputs=INPUTS, outputs=OUTPUTS, references=REFERENCES):
    return metrics[name]().score(Batch(outputs=outputs, inputs=inputs, references=references, target="shakespeare"))


def test_every_metric_gives_one_number_per_sentence_whatever_the_others_are(name):
    whole = score(name)
    assert whole.shape == (3,)
    assert whole.dtype == np.float64
    if name in OF_ALL_SENTENCES:
        return
    for i in range(3):
        np.testing.assert_array_equal(
            score(name, INPUTS[i : i + 1], OUTPUTS[i : i + 1], REFERENCES[i : i + 1]), whole[i : i + 1]
        )


def test_every_metric_signs_its_number(name):
    assert metrics[name]().signature()["metric"] == name == metrics[name].name


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("unigram-f1", [1 / 3, 1, 1 / 3]),
        ("unigram-precision", [1 / 3, 1, 1 / 5]),
        ("jaccard", [1 / 5, 1, 1 / 5]),
        ("kendall-tau", [np.nan, 1, np.nan]),
        ("edit-distance", [2 / 3, 0, 4 / 5]),
        ("copy-rate", [0, 1, 0]),
        ("length-ratio", [1, 1, 5]),
    ],
)
def test_the_numbers_are_those_counted_by_hand(name, expected):
    np.testing.assert_allclose(score(name), expected)


def test_empty_sentences_have_a_number_or_none_but_never_an_error(name):
    assert score(name, ["", "x"], ["", ""], [["x"], [""]]).shape == (2,)


def test_outputs_that_do_not_pair_with_their_inputs_are_refused():
    with pytest.raises(InputError, match="2 outputs, but 1 inputs; they must pair line by line"):
        Batch(outputs=["a", "b"], inputs=["a"])


def test_a_metric_says_what_it_lacks():
    with pytest.raises(UsageError, match="the metric copy-rate needs inputs, which were not given"):
        metrics["copy-rate"]().score(Batch(outputs=["a"]))
