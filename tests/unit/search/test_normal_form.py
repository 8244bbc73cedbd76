"""Normal forms that cost no more than their text."""

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hivekeep.normal_form import Composed, normal_form

ACUTE, DOT_BELOW = "\u0301", "\u0323"
LETTERS = "aé漢각ᄀ\u1161\u11a8ﬁ\ufdfa\u2126\u0f73\U0001d15e\u0344 Å"
"""A letter of each sort that normalising changes, or joins with the next one."""
MARKS = f"{ACUTE}{DOT_BELOW}\u0327\u0345\u0f71\u0f72\u034f\u3099"
LONG = st.text(alphabet=LETTERS + MARKS, max_size=40).map(lambda text: text * (600 // max(len(text), 1) + 1))


@pytest.mark.parametrize("form", ["NFC", "NFKC"])
@settings(max_examples=150, deadline=None)
@given(text=LONG | st.text(alphabet=LETTERS + MARKS) | st.text())
def test_it_is_the_normal_form_of_unicode(form: Composed, text: str) -> None:
    """Short and long, in whatever order the marks stand."""
    assert normal_form(form, text) == unicodedata.normalize(form, text)


@pytest.mark.parametrize("form", ["NFC", "NFKC"])
def test_marks_in_changing_order_cost_no_more_than_others(form: Composed) -> None:
    """Marks are sorted by insertion: 200,000 of them in one catalog or entry stopped a server for minutes."""
    text = "a" + (ACUTE + DOT_BELOW) * 100_000
    begin = time.process_time()
    told = normal_form(form, text)
    assert time.process_time() - begin < 5
    # The dots come first; one joins with the letter.
    assert told == "\u1ea1" + DOT_BELOW * 99_999 + ACUTE * 100_000
