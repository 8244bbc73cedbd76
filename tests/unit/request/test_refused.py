"""What the request language refuses: the kind, the place and the words that help."""

import time
from typing import Any

import pytest

from hivekeep.request.dsl import parse
from hivekeep_contract.errors import ParseError
from hivekeep_contract.request import DSL_ERRORS

BIG = "9" * 5000

# (ops text, kind, position or None, words that the message must hold)
REFUSED: list[tuple[str, str, int | None, str]] = [
    ("", "Empty", 0, "no operation"),
    (" \n\t ", "Empty", 0, "no operation"),
    ("[]", "EmptyBatch", 0, "no operation"),
    (" [ ] ", "EmptyBatch", 1, "no operation"),
    ("[a(),]", "TrailingComma", 5, "comma"),
    ("[a(), b() , ]", "TrailingComma", 12, "comma"),
    ("a.b.c()", "UnsupportedVerbNesting", 3, "a.b"),
    ("[x(), a.b.c()]", "UnsupportedVerbNesting", 9, "second dot"),
    ('{"tool":"a.b.c"}', "UnsupportedVerbNesting", 0, "'a.b.c'"),
    ("[a(), b() | c()]", "MixedSeparators", 10, "batch"),
    ("[a() | b()]", "MixedSeparators", 5, "chain"),
    ("a() | b(), c()", "MixedSeparators", 9, "mixed"),
    ("a(), b() | c()", "MixedSeparators", 3, "mixed"),
    ("[a(), b()] | c()", "MixedSeparators", 11, "mixed"),
    ("[[a()]]", "MixedSeparators", 1, "batch"),
    ("[a(), [b()]]", "MixedSeparators", 6, "batch"),
    ("a() | [b()]", "MixedSeparators", 6, "chain"),
    ("a(), b()", "UnexpectedChar", 3, "[a(), b()]"),
    ("a(), b(x=)", "UnexpectedChar", 3, "[a(), b()]"),
    ("a() b()", "UnexpectedChar", 4, "found 'b'"),
    ("a())", "UnexpectedChar", 3, "found ')'"),
    ("[a()] b()", "UnexpectedChar", 6, "found 'b'"),
    ("[a(),,b()]", "UnexpectedChar", 5, "a verb name"),
    ("[,a()]", "UnexpectedChar", 1, "a verb name"),
    ("[a() b()]", "UnexpectedChar", 5, "',' or ']'"),
    ('[a(), {"tool":"b"}]', "UnexpectedChar", 6, "a verb name"),
    ("a .b()", "UnexpectedChar", 2, "no blank"),
    ("a. b()", "UnexpectedChar", 2, "no blank"),
    ("a=1", "UnexpectedChar", 1, "expected '('"),
    (")", "UnexpectedChar", 0, "a verb name"),
    ("|a()", "UnexpectedChar", 0, "a verb name"),
    ('"stats()"', "UnexpectedChar", 0, "a verb name"),
    ("f(x)", "UnexpectedChar", 3, "name=value"),
    ('f("x")', "UnexpectedChar", 2, "name=value"),
    ("f(a=1,)", "UnexpectedChar", 6, "comma"),
    ("f(,a=1)", "UnexpectedChar", 2, "argument name"),
    ("f(a=)", "UnexpectedChar", 4, "argument 'a'"),
    ("f(a=[1,])", "UnexpectedChar", 7, "a value"),
    ("f(a=[1 2])", "UnexpectedChar", 7, "',' or ']'"),
    ("f(a={b:1})", "UnexpectedChar", 5, "quoted"),
    ('f(a={"b" 1})', "UnexpectedChar", 9, "':'"),
    ("f(a=1]", "UnexpectedChar", 5, "',' or ')'"),
    ('f(a="say "hi" now")', "UnexpectedChar", 10, 'inside a string is written \\"'),
    ("f(a=1 b=2)", "UnexpectedChar", 6, "argument 'a'"),
    ("f(a=007)", "InvalidValue", 4, 'write a="007"; a number is written like 1, -2 or 0.5'),
    ("f(a=[+1])", "InvalidValue", 5, "a number is written like 1, -2 or 0.5"),
    ("f(a=$prev .id)", "UnexpectedChar", 10, "found '.'"),
    ('{"tool":"a"} | {"tool":"b"}', "UnexpectedChar", 12, "the end of the text"),
    ('[{"tool":"a"}]]', "UnexpectedChar", 14, "the end of the text"),
    ("stats", "UnexpectedEof", 5, "'('"),
    ("a.", "UnexpectedEof", 2, "a verb name"),
    ("a() |", "UnexpectedEof", 5, "a verb name"),
    ("[a(),", "UnexpectedEof", 5, "a verb name"),
    ("f(a", "UnexpectedEof", 3, "'='"),
    ("f(a=", "UnexpectedEof", 4, "a value"),
    ("f(a=1,", "UnexpectedEof", 6, "an argument name"),
    ('f(a={"b":', "UnexpectedEof", 9, "a value"),
    ("f(", "UnclosedBracket", 1, "'('"),
    ("f(a=1", "UnclosedBracket", 1, "'('"),
    ("f(a=[", "UnclosedBracket", 4, "'['"),
    ("f(a=[1", "UnclosedBracket", 4, "'['"),
    ('f(a={"b":1', "UnclosedBracket", 4, "'{'"),
    ("[", "UnclosedBracket", 0, "'['"),
    ("[a()", "UnclosedBracket", 0, "'['"),
    ('f(a="x', "UnclosedString", 4, "double quote"),
    ('f(a="x\\"', "UnclosedString", 4, "double quote"),
    ('f(a=["x)', "UnclosedString", 5, "double quote"),
    ("1()", "InvalidIdentifier", 0, "'1'"),
    ("é()", "InvalidIdentifier", 0, "'é'"),
    ("naïve()", "InvalidIdentifier", 0, "'naïve'"),
    ("foo-bar()", "InvalidIdentifier", 0, "'foo-bar'"),
    ("a.1()", "InvalidIdentifier", 2, "'1'"),
    ("$prev", "InvalidIdentifier", 0, "'$prev'"),
    ("f(foo-bar=1)", "InvalidIdentifier", 2, "'foo-bar'"),
    ("f(3)", "InvalidIdentifier", 2, "name=value"),
    ("f(é=1)", "InvalidIdentifier", 2, "'é'"),
    ('{"tool":"not a verb"}', "InvalidIdentifier", 0, "'not a verb'"),
    ('{"tool":"a..b"}', "InvalidIdentifier", 0, "'a..b'"),
    ("f(a=1,a=2)", "DuplicateArg", 6, "'a'"),
    ("f(a=[1],a=[2])", "DuplicateArg", 8, "'a'"),
    ('create(kind="concept", name=X)', "InvalidValue", 28, 'name="X"'),
    ("f(tags=[a])", "InvalidValue", 8, "\"a\" inside argument 'tags'"),
    ("f(a=True)", "InvalidValue", 4, "true, in lower case"),
    ("f(a=None)", "InvalidValue", 4, "null, in lower case"),
    ("f(a='x')", "InvalidValue", 4, 'a="x"'),
    ("f(a=NaN)", "InvalidValue", 4, "'NaN'"),
    ("f(a=[NaN])", "InvalidValue", 5, "'NaN'"),
    ("f(a=-Infinity)", "InvalidValue", 4, "'-Infinity'"),
    ("f(a=01)", "InvalidValue", 4, "'01'"),
    ("f(a=+1)", "InvalidValue", 4, "'+1'"),
    ("f(a=.5)", "InvalidValue", 4, "'.5'"),
    ("f(a=1.)", "InvalidValue", 4, "'1.'"),
    ("f(a=1e)", "InvalidValue", 4, "'1e'"),
    ("f(a=１)", "InvalidValue", 4, "'１'"),
    ("f(a=2024-01-01)", "InvalidValue", 4, 'a="2024-01-01"'),
    ("f(a=1e999)", "InvalidValue", 4, "out of range"),
    ("f(a=[1e999])", "InvalidValue", 5, "out of range"),
    (f"f(a={BIG})", "InvalidValue", 4, "out of range"),
    ("f(a=$foo)", "InvalidValue", 4, "'$foo'"),
    ("f(a=$)", "InvalidValue", 4, "$prev.field"),
    ("a() | b(x=$previous)", "InvalidValue", 10, "'$previous'"),
    ("a() | b(x=$prev.)", "InvalidValue", 10, "'$prev.'"),
    ("a() | b(x=$prev[])", "InvalidValue", 10, "'$prev[]'"),
    ("a() | b(x=$prev[-1])", "InvalidValue", 10, "'$prev[-1]'"),
    ("a() | b(x=$prev[a])", "InvalidValue", 10, "'$prev[a]'"),
    ("a() | b(x=$prev[1)", "InvalidValue", 10, "'$prev[1'"),
    ("a() | b(x=$prev.id.1)", "InvalidValue", 10, "'$prev.id.1'"),
    ('f(a="x\x00y")', "InvalidValue", 6, "\\u0000"),
    ('f(a="x\x0by")', "InvalidValue", 6, "\\u000b"),
    ('f(a=["x\x1fy"])', "InvalidValue", 7, "\\u001f"),
    (r'f(a="\ud800")', "InvalidValue", 4, "surrogate"),
    (r'f(a=["\udc00\ud800"])', "InvalidValue", 5, "surrogate"),
    ('f(a="\ud800")', "InvalidValue", 5, "surrogate"),
    ("{}", "InvalidJson", 0, '"tool"'),
    ('{"tool":1}', "InvalidJson", 0, '"tool"'),
    ('{"tool":"a","args":[]}', "InvalidJson", 0, '"args"'),
    ('{"tool":"a","args":null}', "InvalidJson", 0, '"args"'),
    ('[{"tool":"a"},{"tol":"b"}]', "InvalidJson", 0, "did you mean 'tool'?"),
    ('[{"tool":"a"}, 1]', "InvalidJson", 0, "operation 2"),
    ('[{"tool":"a"}, b()]', "InvalidJson", 15, "Expecting value"),
    ('{"tool":"a"', "InvalidJson", 11, "delimiter"),
    ('{"tool":"a","args":{"x":NaN}}', "InvalidJson", 0, "NaN is not JSON"),
    ('{"tool":"a","args":{"x":1e999}}', "InvalidJson", 0, "out of range"),
    (f'{{"tool":"a","args":{{"x":{BIG}}}}}', "InvalidJson", 0, "digits"),
    ('{"tool":"a","args":{"x":"a\nb"}}', "InvalidJson", 26, "control character"),
    (r'{"tool":"a","args":{"x":"\d"}}', "InvalidJson", 25, "escape"),
    (r'{"tool":"a","args":{"x":"\ud800"}}', "InvalidJson", 25, "surrogate"),
    (r'{"tool":"a","args":{"\udc00":1}}', "InvalidJson", 21, "surrogate"),
    ('{"tool":"a","args":{"x":"\udfff"}}', "InvalidJson", 25, "surrogate"),
    ("f(a=$prev)", "PrevRefOutsideChain", 4, "argument 'a'"),
    ('f(a="$prev.id")', "PrevRefOutsideChain", 4, "$prev.id"),
    ("[f(), g(b=[$prev])]", "PrevRefOutsideChain", 11, "argument 'b'"),
    ("f(a=$prev.id) | g()", "PrevRefOutsideChain", 4, "first operation"),
    ("f(a=$prev.id) | g(b=$prev.id)", "PrevRefOutsideChain", 4, "first operation"),
    ('{"tool":"f","args":{"x":"$prev"}}', "PrevRefInJsonForm", 24, "argument 'x'"),
    ('{"tool":"f","args":{"x":["a",{"y":"$prev.id"}]}}', "PrevRefInJsonForm", 34, "argument 'x'"),
    ('[{"tool":"f","args":{"x":"$prev[bad"}}]', "PrevRefInJsonForm", 25, "argument 'x'"),
    (r'{"tool":"f","args":{"x":"\u0024prev.id"}}', "PrevRefInJsonForm", 0, "'$prev.id'"),
    ('list(kind="entity", presentation="verbose")', "ReservedEnvelopeArg", None, "'presentation'"),
    ("[a(), f(presentation_per_op=[])]", "ReservedEnvelopeArg", None, "'presentation_per_op'"),
    ('{"tool":"f","args":{"presentation":"agent"}}', "ReservedEnvelopeArg", None, "'f'"),
]


def refusal(text: str) -> dict[str, Any]:
    """The error object of a text that must be refused."""
    with pytest.raises(ParseError) as caught:
        parse(text)
    return caught.value.body()


@pytest.mark.parametrize(("text", "kind", "position", "words"), REFUSED, ids=[row[0][:40] for row in REFUSED])
def test_refused(text: str, kind: str, position: int | None, words: str) -> None:
    """Each malformed text is refused with its kind, its place (counted in characters) and words that help."""
    body = refusal(text)
    assert body["dsl_error"] == kind
    assert body.get("position") == position
    assert body["reason"] == "parse-error"
    assert words in body["message"]
    assert body["message"].startswith(kind)
    assert position is None or f"position {position}" in body["message"]


def test_every_kind_of_the_contract_can_happen() -> None:
    """The refusals here and the limits below cover every kind but WriteKeyConflict, and invent none."""
    here = {row[1] for row in REFUSED} | {"TooManyOps", "InputTooLarge", "NestingTooDeep"}
    assert here == set(DSL_ERRORS) - {"WriteKeyConflict"}


@pytest.mark.parametrize(
    "text",
    [
        f"[{','.join(['a()'] * 101)}]",
        "|".join(["a()"] * 101),
        "[" + ",".join(['{"tool":"a"}'] * 101) + "]",
    ],
    ids=["batch", "chain", "json"],
)
def test_too_many_operations(text: str) -> None:
    """The 101st operation refuses the request in every form; count and limit are named."""
    body = refusal(text)
    assert (body["dsl_error"], body["count"], body["max"]) == ("TooManyOps", 101, 100)
    assert "101" in body["message"]


@pytest.mark.parametrize("filler", ["a", "é"])
def test_input_too_large_counts_bytes(filler: str) -> None:
    """The limit counts UTF-8 bytes of the trimmed text, before anything is parsed."""
    text = "(" + filler * (1_048_576 // len(filler.encode())) + "  "
    body = refusal("  " + text)
    assert (body["dsl_error"], body["len"], body["max"]) == ("InputTooLarge", 1_048_577, 1_048_576)


@pytest.mark.parametrize(
    ("text", "position"),
    [
        (f"f(x={'[' * 65}{']' * 65})", 68),
        (f"f(x={'[' * 65}1", 68),
        ('f(x={"a":' * 1 + '{"a":' * 64 + "1", 9 + 5 * 63),
        (f"f(x={'[' * 200_000}", 68),
        ('{"tool":"f","args":{"x":' + "[" * 63 + "]" * 63 + "}}", 24 + 62),
        ("[{" * 300_000, 64),
    ],
    ids=["arrays", "open", "objects", "hostile", "json", "json hostile"],
)
def test_nesting_too_deep(text: str, position: int) -> None:
    """The 65th level is refused where it opens, however much follows; the JSON form counts its own brackets
    too.
    """
    body = refusal(text)
    assert (body["dsl_error"], body["depth"], body["max"]) == ("NestingTooDeep", 65, 64)
    assert body["position"] == position


def test_hostile_strings_take_linear_time() -> None:
    """A megabyte of escaped quotes in an unclosed string is refused at once in both forms, in few words."""
    quotes = '\\"' * 500_000
    started = time.perf_counter()
    assert refusal('{"tool":"' + "[" * 64 + quotes)["dsl_error"] == "InvalidJson"
    assert refusal('f(x="' + quotes)["dsl_error"] == "UnclosedString"
    assert len(str(refusal(f"{'a' * 1_000_000}()(")["message"])) < 2100
    assert len(str(refusal(f"f({'a' * 500_000}=1,{'a' * 500_000}=1)"))) < 5000
    assert time.perf_counter() - started < 5


def test_brackets_inside_strings_do_not_nest() -> None:
    """Brackets in JSON strings, also after an escaped quote, are text."""
    text = "[" * 100 + '\\"' + "{" * 100
    assert parse(f'{{"tool":"f","args":{{"x":"{text}"}}}}').ops[0].args["x"] == "[" * 100 + '"' + "{" * 100


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("f(presentation=$prev)", "PrevRefOutsideChain"),
        (f"[{','.join(['f(a=$prev)'] * 101)}]", "TooManyOps"),
        ("[" + ",".join(['{"tool":"f","args":{"a":"$prev"}}'] * 101) + "]", "TooManyOps"),
        ('{"tool":"f","args":{"presentation":"$prev"}}', "PrevRefInJsonForm"),
        ("f(presentation=1, b=)", "UnexpectedChar"),
        ("\ud800" + "x" * 1_048_576, "InputTooLarge"),
    ],
)
def test_the_checks_run_in_their_order(text: str, kind: str) -> None:
    """Size comes before syntax, syntax before the count, the count before $prev, $prev before reserved
    names.
    """
    assert refusal(text)["dsl_error"] == kind
