"""What the request language accepts, form by form, and the exact plan it makes of it."""

import pytest

from hivekeep.request.dsl import Op, Plan, PrevRef, parse


@pytest.mark.parametrize(
    ("text", "mode", "verbs"),
    [
        ("stats()", "single", ["stats"]),
        (" \t\r\n\f\v stats ( ) ", "single", ["stats"]),
        ("_a1()", "single", ["_a1"]),
        ("memory.recall()", "single", ["memory.recall"]),
        ("[stats()]", "parallel", ["stats"]),
        ("[ stats() , gtd.next() ]", "parallel", ["stats", "gtd.next"]),
        ("a() | b()", "chain", ["a", "b"]),
        ("a()|b()|c.d()", "chain", ["a", "b", "c.d"]),
        ('{"tool":"stats"}', "single", ["stats"]),
        ('[{"tool":"stats"}]', "parallel", ["stats"]),
        ('[ {"tool":"a","args":{}} , {"args":{},"tool":"b.c"} ]', "parallel", ["a", "b.c"]),
    ],
)
def test_the_form_decides_the_mode(text: str, mode: str, verbs: list[str]) -> None:
    """One call is single, brackets are parallel, a bar makes a chain; the JSON form follows its first
    bracket.
    """
    plan = parse(text)
    assert plan.mode == mode
    assert [op.verb for op in plan.ops] == verbs


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("true", True),
        ("false", False),
        ("null", None),
        ("0", 0),
        ("-0", 0),
        ("-12", -12),
        ("123456789012345678901234567890", 123456789012345678901234567890),
        ("1.5", 1.5),
        ("-0.25", -0.25),
        ("1e3", 1000.0),
        ("2E-2", 0.02),
        ('""', ""),
        ('"a b"', "a b"),
        ('"Müller 设备 🙂"', "Müller 设备 🙂"),
        ("[]", []),
        ("{}", {}),
        ('[1, "a", [true, null], {"k": 2.5}]', [1, "a", [True, None], {"k": 2.5}]),
        ('{ "a" : 1 , "b" : [ ] }', {"a": 1, "b": []}),
        ('{"a":1,"a":2}', {"a": 2}),
        ('{"a":"\\d","a":2}', {"a": 2}),
        ('["line\none"]', ["line\none"]),
    ],
)
def test_values(source: str, value: object) -> None:
    """Argument values are JSON literals of every type; a repeated key of an object keeps its last value."""
    got = parse(f"f(x = {source} )").ops[0].args["x"]
    assert got == value
    assert type(got) is type(value)


def test_arguments_keep_their_order() -> None:
    """Arguments are kept in the order written, whatever their types."""
    assert list(parse('f(b=1,a="x",c=[1],_=null)').ops[0].args) == ["b", "a", "c", "_"]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (r"\"", '"'),
        (r"\\", "\\"),
        (r"\/", "/"),
        (r"\b\f\n\r\t", "\b\f\n\r\t"),
        (r"\u00e9", "é"),
        (r"\ud83d\ude42", "🙂"),
        (r"\u0000", "\x00"),
        (r"\d+\.\$", r"\d+\.\$"),
        (r"C:\users", r"C:\users"),
        ("line1\nline2\r\tx", "line1\nline2\r\tx"),
        ("it's", "it's"),
        ("a\x7f", "a\x7f"),
    ],
)
def test_string_escapes(written: str, meant: str) -> None:
    """All JSON escapes are decoded, any other backslash pair stays as written, LF, CR and TAB may stand
    raw.
    """
    assert parse(f'f(x="{written}")').ops[0].args["x"] == meant
    assert parse(f'f(x=["{written}"])').ops[0].args["x"] == [meant]


@pytest.mark.parametrize(
    ("source", "steps"),
    [
        ("$prev", ()),
        ("$prev.id", ("id",)),
        ("$prev.a.b", ("a", "b")),
        ("$prev[2]", (2,)),
        ("$prev.items[0].id", ("items", 0, "id")),
        ("$prev[0][10]", (0, 10)),
    ],
)
def test_references(source: str, steps: tuple[str | int, ...]) -> None:
    """An unquoted reference and the same one in quotes mean the same path."""
    expected = PrevRef(source, steps)
    assert parse(f"a() | b(x={source})").ops[1].args["x"] == expected
    assert parse(f'a() | b(x="{source}")').ops[1].args["x"] == expected


def test_references_at_any_depth() -> None:
    """References may sit anywhere inside arrays and objects; object keys are never references."""
    plan = parse('a() | b(x=[{"$prev": $prev.id, "k": ["$prev[0]"]}])')
    assert plan.ops[1].args["x"] == [{"$prev": PrevRef("$prev.id", ("id",)), "k": [PrevRef("$prev[0]", (0,))]}]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ('"$prevention"', "$prevention"),
        ('"see $prev"', "see $prev"),
        ('" $prev"', " $prev"),
        ('"$prev.id is the syntax"', "$prev.id is the syntax"),
        ('"$prev[-1]"', "$prev[-1]"),
        ('"$prev[x]"', "$prev[x]"),
        ('"$prev["', "$prev["),
        ('"$prev."', "$prev."),
        ('"$prev\n"', "$prev\n"),
        ('"$other"', "$other"),
        (r'"\\$prev"', "$prev"),
        (r'"\\$prev.id"', "$prev.id"),
        (r'"\$prev.id"', "$prev.id"),
        (r'"\$prev[0"', "$prev[0"),
        (r'"\\\\$prev"', r"\$prev"),
        (r'"\\$prevention"', r"\$prevention"),
    ],
)
def test_texts_that_are_no_references(source: str, text: str) -> None:
    """Only a whole well-formed reference is promoted; one leading backslash makes it text and goes away."""
    assert parse(f"a() | b(x={source})").ops[1].args["x"] == text
    assert parse(f"f(x={source})").ops[0].args["x"] == text


def test_a_reference_spelled_with_escapes_is_one() -> None:
    """Promotion looks at the decoded text, so an escaped dollar sign is still a reference."""
    assert parse(r'a() | b(x="\u0024prev.id")').ops[1].args["x"] == PrevRef("$prev.id", ("id",))


def test_json_form_decodes_strictly_and_unescapes() -> None:
    """The JSON form decodes JSON and takes the backslash off an escaped reference at any depth, never off a
    key.
    """
    plan = parse(r'{"tool":"f","args":{"x":["\\$prev.id"],"y":{"\\$prev":"$prevention"},"z":"a\n"}}')
    assert plan == Plan("single", (Op("f", {"x": ["$prev.id"], "y": {"\\$prev": "$prevention"}, "z": "a\n"}),))


def test_exactly_the_limits_are_accepted() -> None:
    """100 operations, 64 levels and 1,048,576 bytes after trimming are all within the limits."""
    assert len(parse(f"[{','.join(['a()'] * 100)}]").ops) == 100
    assert parse(f"f(x={'[' * 64}{']' * 64})").mode == "single"
    assert parse(f"f(x={'[' * 64}$0{']' * 64})".replace("$0", r'"\d"')).mode == "single"
    frame = len('f(x="")')
    assert len(parse(f'   f(x="{"a" * (1_048_576 - frame)}")   ').ops[0].args["x"]) == 1_048_576 - frame


def test_plain_and_careful_readers_agree() -> None:
    """A large plain container and the same one with an escape that needs care give the same value."""
    items = ",".join(f'{{"kind":"concept","name":"n{i}","w":{i / 4},"t":["a",null]}}' for i in range(200))
    plain = parse(f"create(items=[{items}])").ops[0].args["items"]
    careful = parse(f"create(items=[{items}])".replace('"n7"', r'"\u006e7"')).ops[0].args["items"]
    assert plain == careful
    assert plain[7] == {"kind": "concept", "name": "n7", "w": 1.75, "t": ["a", None]}
