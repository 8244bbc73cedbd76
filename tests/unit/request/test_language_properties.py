"""What holds for every text and every plan, tried on many random ones (the same ones on every run)."""

import json
from typing import Any

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from hivekeep.request.dsl import Op, Plan, PrevRef, parse, print_plan
from hivekeep.request.references import reference_at
from hivekeep_contract.errors import ParseError
from hivekeep_contract.request import DSL_ERRORS

FIXED = settings(max_examples=500, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])

LETTERS = "abz_Z"
IDENTIFIERS = st.text(LETTERS, min_size=1, max_size=4)
VERBS = st.one_of(IDENTIFIERS, st.builds("{}.{}".format, IDENTIFIERS, IDENTIFIERS))
NAMES = st.builds("{}{}".format, IDENTIFIERS, st.integers(0, 99))
TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
    st.sampled_from(["$prev", "$prev.id", "$prev[0]", "\\$prev", "\\\\$prev.a", "$prev.id is", "$prev[", "$prevx"]),
    st.text("$prev.[]0\\\"'\n", max_size=10),
)
STEPS = st.one_of(st.builds(".{}".format, IDENTIFIERS), st.builds("[{}]".format, st.integers(0, 999)))
REFERENCES = st.lists(STEPS, max_size=4).map(lambda steps: reference_at("$prev" + "".join(steps), 0))
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), TEXTS)


def values(leaves: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """JSON values over the given leaves."""
    return st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
        max_leaves=6,
    )


def operations(names: st.SearchStrategy[str], leaves: st.SearchStrategy[Any]) -> st.SearchStrategy[Op]:
    """Operations whose arguments are values over the given leaves."""
    return st.builds(Op, VERBS, st.dictionaries(names, values(leaves), max_size=4))


PLAIN_OPS = operations(NAMES, SCALARS)
CHAINED_OPS = operations(NAMES, SCALARS | REFERENCES)
JSON_OPS = operations(TEXTS, SCALARS)
PLANS = st.one_of(
    st.builds(lambda op: Plan("single", (op,)), PLAIN_OPS | JSON_OPS),
    st.builds(lambda ops: Plan("parallel", tuple(ops)), st.lists(PLAIN_OPS | JSON_OPS, min_size=1, max_size=4)),
    st.builds(
        lambda first, rest: Plan("chain", (first, *rest)),
        PLAIN_OPS,
        st.lists(CHAINED_OPS, min_size=1, max_size=3),
    ),
)
MARKS = list('()[]{},|=:"\\$ \n1\x00\ud800é')
WORDS = ["a", "b.c", "$prev", ".id", "[0]", "-2.5e3", "true", "null", "x=", 'k="v"', '"tool"', '"args"', '{"tool":"a"}']
PIECES = st.lists(st.sampled_from(MARKS + WORDS), max_size=25).map("".join)


@FIXED
@given(PLANS)
def test_printing_and_parsing_are_inverse(plan: Plan) -> None:
    """Every plan, texts that look like references included, comes back from its printed form and prints it
    again.
    """
    text = print_plan(plan)
    assert parse(text) == plan
    assert print_plan(parse(text)) == text


def _refusal_or_plan(text: str) -> Plan | None:
    try:
        return parse(text)
    except ParseError as refused:
        body = refused.body()
        assert body["dsl_error"] in DSL_ERRORS
        assert body["message"].startswith(body["dsl_error"])
        assert 0 <= body.get("position", 0) <= len(text)
        return None


@FIXED
@given(st.one_of(PIECES, st.text(max_size=40)))
def test_any_text_is_parsed_or_refused_by_name(text: str) -> None:
    """Random text never crashes the parser: it is a plan that prints back, or a refusal of a known kind and
    place.
    """
    plan = _refusal_or_plan(text)
    if plan is not None:
        assert parse(print_plan(plan)) == plan


@settings(FIXED, max_examples=250)
@given(PLANS, st.data())
def test_a_damaged_text_is_parsed_or_refused_by_name(plan: Plan, data: st.DataObject) -> None:
    """One character taken out of, or put into, a valid text gives a plan or a refusal, never another error."""
    text = print_plan(plan)
    at = data.draw(st.integers(0, len(text)))
    _refusal_or_plan(text[:at] + text[at + 1 :])
    _refusal_or_plan(text[:at] + data.draw(st.sampled_from('"\\[](){}|,=.$ x0')) + text[at:])


@settings(FIXED, max_examples=200)
@given(values(SCALARS))
def test_json_values_mean_the_same_in_both_forms(value: Any) -> None:
    """A JSON text without references is one value, as an argument and in the JSON form."""
    text = json.dumps(value, ensure_ascii=False)
    assume("$" not in text)
    as_argument = parse(f"f(x={text})").ops[0].args["x"]
    in_json = parse(f'{{"tool":"f","args":{{"x":{text}}}}}').ops[0].args["x"]
    assert as_argument == in_json == value


def test_argument_names_only_json_can_spell_print_as_json() -> None:
    """A plan with an argument name that is no identifier prints in the JSON form, escaping included."""
    plan = Plan("parallel", (Op("f", {"a-b": "$prev.id"}), Op("g", {})))
    assert print_plan(plan) == ('[{"tool": "f", "args": {"a-b": "\\\\$prev.id"}}, {"tool": "g", "args": {}}]')
    assert parse(print_plan(plan)) == plan


def test_canonical_spelling() -> None:
    """The printed form: double quotes, one blank after commas, references bare, scripts as themselves."""
    reference = PrevRef("$prev.items[0].id", ("items", 0, "id"))
    plan = Plan("chain", (Op("a", {}), Op("b.c", {"x": [1, None, True], "y": {"ключ": reference}})))
    assert print_plan(plan) == 'a() | b.c(x=[1, null, true], y={"ключ": $prev.items[0].id})'
