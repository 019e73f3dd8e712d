"""A pair that loses a fact or ends in the middle is not learned from."""

import pytest

from restyle.pairs.soundness import CHECKS, first_fault

SOUND = [
    ("They came at nine o'clock.", "It was 9 o'clock when they came."),
    ("It is not safe.", "It isn't safe."),
    ("The train to Paris has left.", "Gone is the train for Paris."),
    ("In the house of Jehovah he stood.", "He stood in the house of the Lord."),
    ("I do love thee.", "I love you."),
    ('He said: "Go home."', '"Go home," he told them.'),
    ("Where art thou?", "Where are you?"),
    ("over the hills and far away", "Beyond the hills, far off"),
]
UNSOUND = {
    "numbers": [("They paid 1,200 dollars.", "They paid a lot."), ("Two men came.", "Three men came.")],
    "negation": [("I can't see that.", "I see that."), ("They came.", "They never came.")],
    "names": [
        ("We went to Paris by train.", "We went there by train."),
        ("He saw his wife.", "Then Anna saw his wife."),
    ],
    "persons": [("Tired of sitting here.", "You're tired of sitting here."), ("I saw her.", "She saw it.")],
    "ending": [
        ("She was in the garden.", "In the garden she was,"),
        ("She was in the garden.", "In the garden she was"),
        ("Is she here?", "She is here."),
        ("She is with the king", "She is with the"),
    ],
    "beginning": [("She was here.", "here was she.")],
    "quotes": [("He said so.", 'He said "so.'), ("They came.", '"They came."')],
    "repeats": [
        ("It was a very good day.", "It was very very good."),
        ("I am well.", "I am well, I am well, I am well."),
    ],
    "residue": [
        ("Look at the sea.", "Look at the sea @anna."),
        ("Look at the sea.", "Look at http://sea.example now."),
    ],
    "coarse": [("That is bad.", "That is shitty.")],
}


def test_a_sound_pair_has_no_fault():
    assert [first_fault(*pair) for pair in SOUND] == [None] * len(SOUND)


@pytest.mark.parametrize("check", UNSOUND)
def test_each_check_finds_its_fault(check):
    assert [CHECKS[check](*pair) for pair in UNSOUND[check]] == [False] * len(UNSOUND[check])


def test_every_check_is_tried_here():
    assert set(UNSOUND) == set(CHECKS)


def test_only_the_checks_that_are_named_are_made():
    assert first_fault("They came.", "They never came.", ["numbers"]) is None


def test_a_text_that_has_the_fault_itself_may_be_followed():
    assert first_fault("No, no, no, no, no, no!", "No, no, no, no, no, no!") is None
    assert first_fault("What the fuck is that?", "What the fuck is it?") is None
