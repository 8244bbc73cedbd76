"""Small random graphs and random SELECTs over them, for comparing two engines.

Everything comes from one `random.Random`, so a seed is a case for ever. Names and texts are distinct whatever the case
of their letters, because that is where the dialect means to differ from standard SPARQL.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from random import Random

RELATIONS = ("extends", "depends_on", "contains")
KINDS = ("concept", "document", "project")
NAMES = ("Alba", "Bona", "Cela", "Dora", "Elba", "Fara", "Gala")
COLORS = ("red", "blue", "green")
YEARS = (1990, 2000, 2010)
_VARIABLE = re.compile(r"\?\w+")
_RECORDS = ("x", "y", "z")
_FIELDS = {"name": "n", "description": "d", "year": "k"}


@dataclass(frozen=True)
class Graph:
    """(name, kind, description, year) of each entity, (source, relation, target) of each edge by name."""

    entities: tuple[tuple[str, str, str | None, int | None], ...]
    edges: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True)
class Select:
    """A query text, the columns it shows, and whether the order of its rows is fixed."""

    text: str
    columns: tuple[str, ...]
    ordered: bool


def graph(random: Random) -> Graph:
    """Up to seven entities and up to twelve different edges between different ones."""
    names = NAMES[: random.randint(3, len(NAMES))]
    entities = tuple(
        (name, random.choice(KINDS), random.choice((None, *COLORS)), random.choice((None, *YEARS))) for name in names
    )
    edges = {
        (source, random.choice(RELATIONS), target)
        for source, target in (random.sample(names, 2) for _ in range(random.randint(2, 12)))
    }
    return Graph(entities, tuple(sorted(edges)))


def select(random: Random) -> Select:
    """A query of the dialect that both engines must answer alike."""
    return _Writer(random).select()


class _Writer:
    """Writes one query and keeps its variables."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.bound: set[str] = set()
        # Whether there is a path that may be empty: the other engine may then repeat a pair of ends.
        self.zeros = False
        # Two kinds of one record are refused, so a record has one in the whole query; its color likewise.
        self.kinds: dict[str, str] = {}
        self.colors: dict[str, str] = {}

    def select(self) -> Select:
        pattern = self.group(depth=0)
        if not self.bound:
            pattern += " " + self.named()
        shown = sorted(self.bound)
        columns = tuple(self.random.sample(shown, self.random.randint(1, len(shown))))
        if self.random.random() < 0.25:
            return self.counted(pattern, columns)
        distinct = "DISTINCT " if self.zeros or self.random.random() < 0.3 else ""
        text = f"SELECT {distinct}{' '.join('?' + name for name in columns)} WHERE {{ {pattern} }}"
        if all(name in _FIELDS.values() for name in columns) and self.random.random() < 0.6:
            keys = " ".join(self.random.choice(("?{0}", "ASC(?{0})", "DESC(?{0})")).format(name) for name in columns)
            limit = f" LIMIT {self.random.randint(0, 5)}" if self.random.random() < 0.5 else ""
            return Select(f"{text} ORDER BY {keys}{limit}", columns, ordered=True)
        return Select(text, columns, ordered=False)

    def counted(self, pattern: str, keys: tuple[str, ...]) -> Select:
        of = self.random.choice((*(() if self.zeros else "*"), *(f"?{name}" for name in sorted(self.bound))))
        distinct = "DISTINCT " if of != "*" and (self.zeros or self.random.random() < 0.5) else ""
        keys = keys if self.random.random() < 0.7 else ()
        shown = " ".join(f"?{name}" for name in keys)
        group = f" GROUP BY {shown}" if keys else ""
        text = f"SELECT {shown} (COUNT({distinct}{of}) AS ?count) WHERE {{ {pattern} }}{group}"
        return Select(text, (*keys, "count"), ordered=False)

    def group(self, depth: int) -> str:
        parts = [self.triple() for _ in range(self.random.randint(1, 3 if depth == 0 else 2))]
        if self.random.random() < 0.25:
            parts.append(self.zero())
        if depth < 2:
            extra = self.random.random()
            if extra < 0.25:
                parts.append(f"OPTIONAL {{ {self.group(depth + 1)} }}")
            elif extra < 0.4:
                parts.append(f"{{ {self.group(depth + 1)} }} UNION {{ {self.group(depth + 1)} }}")
            elif extra < 0.5 and depth == 0:
                # Deeper, the other engine lets it see variables from outside its braces.
                parts.append(f"FILTER {self.random.choice(('', 'NOT '))}EXISTS {{ {self.inner(depth)} }}")
        if self.random.random() < 0.3:
            parts.append(self.triple())
        condition = self.condition(2)
        # A variable from outside the braces is unbound in them, which the other engine sees differently.
        known = depth == 0 or set(_VARIABLE.findall(condition)) <= set(_VARIABLE.findall(" ".join(parts)))
        if known and self.random.random() < 0.6:
            parts.append(f"FILTER({condition})")
        return " ".join(parts)

    def inner(self, depth: int) -> str:
        """A group whose variables are seen nowhere else unless they are around it already."""
        before = set(self.bound)
        text = self.group(depth + 2)
        self.bound = before
        return text

    def record(self) -> str:
        if self.random.random() < 0.2:
            return f":{self.random.choice(NAMES[:3])}"
        name = self.random.choice(_RECORDS)
        self.bound.add(name)
        return f"?{name}"

    def triple(self) -> str:
        choice = self.random.random()
        if choice < 0.4:
            return f"{self.record()} {self.path()} {self.record()} ."
        subject = self.record()
        if choice < 0.55:
            return f"{subject} a :{self.kinds.setdefault(subject, self.random.choice(KINDS))} ."
        if choice < 0.65:
            return f'{subject} :description "{self.colors.setdefault(subject, self.random.choice(COLORS))}" .'
        field = self.random.choice(tuple(_FIELDS))
        self.bound.add(_FIELDS[field])
        return f"{subject} :{field} ?{_FIELDS[field]} ."

    def path(self) -> str:
        first, second = (f":{name}" for name in self.random.sample(RELATIONS, 2))
        return self.random.choice(
            (
                first,
                first,
                f"^{first}",
                f"{first}/{second}",
                f"{first}/^{second}",
                f"{first}|{second}",
                f"{first}|^{first}",
                f"{first}+",
                f"({first}|{second})+",
                f"({first}/{second})+",
                f"(^{first}|{second})+",
                f"{first}/{second}+",
                f"^({first}/{second})",
            )
        )

    def named(self) -> str:
        self.bound |= {"x", "n"}
        return "?x :name ?n ."

    def zero(self) -> str:
        """A path that may have no edge, from a record with a name: the other engine knows other things as well."""
        self.zeros = True
        first, second = (f":{name}" for name in self.random.sample(RELATIONS, 2))
        path = self.random.choice(
            (f"{first}*", f"{first}?", f"({first}|{second})*", f"({first}/{second})?", f"(^{first})*")
        )
        return f"{self.named()} ?x {path} {self.record()} ."

    def condition(self, depth: int) -> str:
        choice = self.random.random()
        if depth and choice < 0.2:
            return f"({self.condition(depth - 1)} || {self.condition(depth - 1)})"
        if depth and choice < 0.35:
            return f"({self.condition(depth - 1)} && {self.condition(depth - 1)})"
        if depth and choice < 0.5:
            # Without "and" inside: the other engine takes a false and an error for an error.
            return f"!({self.condition(0)})"
        name, color, year = self.random.choice(NAMES), self.random.choice(COLORS), self.random.choice(YEARS)
        return self.random.choice(
            (
                f'?d = "{color}"',
                f'?d != "{color}"',
                f'?d IN ("{color}", "none")',
                f'?d NOT IN ("{color}")',
                f'?n < "{name}"',
                f'STRSTARTS(?n, "{name[0]}")',
                f'STRENDS(?n, "{name[1:]}")',
                f'CONTAINS(?n, "{name[2]}")',
                f'LCASE(?n) = "{name.lower()}"',
                "STRLEN(?d) > 3",
                f'SUBSTR(?n, 2, 2) = "{name[1:3]}"',
                f'REGEX(?n, "^{name[0]}")',
                f"?k >= {year}",
                f"?k = {year}",
                f"?k != {year}",
                "BOUND(?d)",
                "BOUND(?z)",
                "?x = ?y",
                "?x != ?y",
                "?n = ?d",
            )
        )
