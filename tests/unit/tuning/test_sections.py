"""Sections: what one signal does, the cap on evidence, and the weights."""

from collections.abc import Sequence
from math import exp

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hivekeep.storage.brain_states import SectionRow
from hivekeep.tuning import sections
from hivekeep.tuning.beliefs import Belief

FLOOR = 0.05


def test_the_defaults_are_the_ten_sections() -> None:
    """Each begins at its own prior, and remembers it."""
    rows = {row.section: row for row in sections.default_rows()}
    assert len(rows) == 10
    assert rows["operational_guidance"] == SectionRow("operational_guidance", 6.0, 1.5, 6.0, 1.5)
    assert rows["formalism"] == SectionRow("formalism", 1.5, 4.0, 1.5, 4.0)


def test_a_seed_names_some_and_the_others_begin_even() -> None:
    """What the seed does not name is believed 2 to 2."""
    rows = {row.section: row for row in sections.seeded_rows({"examples": Belief(9.0, 1.0)})}
    assert rows.pop("examples") == SectionRow("examples", 9.0, 1.0, 9.0, 1.0)
    assert {row[1:] for row in rows.values()} == {(2.0, 2.0, 2.0, 2.0)}


@pytest.mark.parametrize(
    ("signal", "belief"), [("useful", (3.0, 2.0)), ("not_useful", (2.0, 3.0)), ("wrong", (2.0, 4.0))]
)
def test_one_signal(signal: str, belief: tuple[float, float]) -> None:
    """Wrong weighs twice as much as not useful."""
    after = sections.after(SectionRow("other", 2.0, 2.0, 2.0, 2.0), signal)
    assert after == SectionRow("other", *belief, 2.0, 2.0)


def test_evidence_beyond_the_cap_shrinks_in_proportion() -> None:
    """At 100, what came on top of the prior is scaled; the prior itself stays."""
    row = SectionRow("other", 62.0, 38.0, 2.0, 2.0)
    after = sections.after(row, "useful")
    kept = (100 - 4) / (101 - 4)
    assert after[1:3] == pytest.approx((2 + 61 * kept, 2 + 36 * kept), abs=1e-9)
    assert after.alpha + after.beta == pytest.approx(100, abs=1e-9)
    assert sections.reset(after) == SectionRow("other", 2.0, 2.0, 2.0, 2.0)


def test_a_prior_larger_than_the_cap_is_kept_and_nothing_comes_on_top() -> None:
    """A seed may be surer than the cap; feedback does not move it then."""
    row = SectionRow("other", 150.0, 50.0, 150.0, 50.0)
    assert sections.after(row, "wrong") == row


def even_out(parts: dict[str, float]) -> dict[str, float]:
    """The floor by another road: the smallest set of pinned sections that leaves the others above the floor."""
    names = sorted(parts, key=lambda name: parts[name])
    for pinned in range(len(names) + 1):
        free, low = names[pinned:], names[:pinned]
        rest = sum(parts[name] for name in free)
        shared = {name: parts[name] / rest * (1 - FLOOR * pinned) for name in free}
        if all(part >= FLOOR for part in shared.values()):
            return shared | dict.fromkeys(low, FLOOR)
    raise AssertionError


beliefs = st.tuples(st.floats(0.1, 100), st.floats(0.1, 100))


@given(st.lists(beliefs, min_size=10, max_size=10))
@settings(max_examples=60, derandomize=True)
def test_settled_weights_are_the_softmax_of_the_means_with_a_floor(values: Sequence[tuple[float, float]]) -> None:
    """Equal to another computation; they add up to 1 and none is below the floor."""
    rows = [SectionRow(name, *pair, *pair) for name, pair in zip(sections.SECTIONS, values, strict=True)]
    found = sections.weights(rows)
    powers = {row.section: exp(row.alpha / (row.alpha + row.beta) / 0.1) for row in rows}
    wanted = even_out({name: power / sum(powers.values()) for name, power in powers.items()})
    assert found == pytest.approx(wanted, abs=1e-9)
    assert sum(found.values()) == pytest.approx(1, abs=1e-9)
    assert min(found.values()) >= FLOOR - 1e-12


@pytest.mark.parametrize(("epoch", "temperature"), [(50, 1.0), (25, 0.5), (1, 0.02)])
def test_early_weights_are_drawn_at_a_falling_temperature(epoch: int, temperature: float) -> None:
    """The draw decides, divided by the temperature of the epoch."""
    rows = [SectionRow(name, 1.0, 1.0, 1.0, 1.0) for name in ("overview", "examples")]
    drawn = iter((0.5, 0.52))
    found = sections.weights(rows, epoch, lambda _alpha, _beta: next(drawn))
    power = exp(0.02 / temperature)
    assert found == pytest.approx({"overview": 1 / (1 + power), "examples": power / (1 + power)}, abs=1e-9)
