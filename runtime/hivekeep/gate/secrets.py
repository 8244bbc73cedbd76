"""Finds credentials in text. One scanner, one table of shapes, two uses: refuse a write, or mask a preview.

What stays true: named shapes are credentials wherever they stand; the entropy rule looks only at the value
of an assignment whose label holds a trigger word. Ids, digests, base64 data and prose are never findings.
Every scan is linear in the text, and no message, excerpt or exception carries more of a credential than its
first six characters and its length.
"""

import math
import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

from hivekeep_contract import secrets as table
from hivekeep_contract.errors import SecretDetected

_SHOWN_CHARS = 6
"""How much of a finding an excerpt shows."""

_LEAD_MAX = 32
"""How far in front of its literal a finding may begin."""

_LABEL_MAX = 80
"""How far in front of a separator a label is looked for."""

_ASSIGNMENTS_PER_RUN = 64
"""How many suffixes of one unbroken run are tested; keeps a hostile `a=b=c=...` linear."""

_ENTROPY_CHARS = 4096
"""How much of a value is measured; more cannot change the verdict of real data and would cost time."""

# A value is a run of ASCII without white space, quotes, brackets and the signs that separate fields.
_VALUE = r"[!#-%*+\-./0-9:=?@A-Z^_a-z~]"
_ASSIGNMENT = re.compile(rf"[=:]>?[ \t]{{0,8}}+[\\\"'`(\[{{<]{{0,4}}+(?={_VALUE}{{{table.ENTROPY_MIN_LENGTH}}})")
_RUN = re.compile(rf"{_VALUE}++")
_BEHIND_LABEL = " \t\\\"'`])}:=>"
_LABEL_CHARS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"
_OPENING_PUNCTUATION = ".:=!?*~"
_CLOSING_PUNCTUATION = ".:!?*~"

_TRIGGER = re.compile(
    rf"(?<![a-z])(?:{'|'.join(table.TRIGGERS)})(?![a-z])"
    rf"|(?<![a-z]){table.TOKEN_TRIGGER}\Z|(?<![a-z0-9_]){table.TOKEN_TRIGGER}(?![a-z0-9_])"
)
_DIGEST = re.compile(table.DIGEST_PREFIX)
_BASE64_WITH_ALL_CLASSES = re.compile(
    r"(?=[^A-Z]*+[A-Z])(?=[^a-z]*+[a-z])(?=[^0-9]*+[0-9])[A-Za-z0-9+][A-Za-z0-9+/]*+={0,2}"
)

_MIN_DISTINCT = math.ceil(2**table.ENTROPY_MIN_BITS)
"""A value with fewer different characters cannot reach the entropy bound."""


def _signs() -> tuple[str, ...]:
    """Characters of which every shape and every assignment holds at least one; prose mostly holds none of them."""
    signs = ["=", ":"]
    for row in table.DETECTORS:
        if not any(sign in row.literal for sign in signs):
            signs.append(next((char for char in row.literal if not char.islower()), row.literal[0]))
    return tuple(signs)


_SIGNS = _signs()


class Finding(NamedTuple):
    """One credential in a text, `text[start:end]`, shown only as `masked`.

    `trigger` is the word that gave an assignment away; None for a named shape.
    """

    detector: str
    trigger: str | None
    masked: str
    start: int
    end: int


def find(text: str) -> Finding | None:
    """Return the first credential of `text`, or None. At one position the order of the table decides."""
    if not (searches := _searches(text)):
        return None
    firsts = (next(findings, None) for findings in searches)
    return min((first for first in firsts if first), key=_position, default=None)


def find_all(text: str) -> list[Finding]:
    """Return the credentials of `text` in order; of overlapping ones the first, then the longer, is kept."""
    kept: list[Finding] = []
    everything = [finding for findings in _searches(text) for finding in findings]
    for finding in sorted(everything, key=lambda found: (found.start, -found.end)):
        if not kept or finding.start >= kept[-1].end:
            kept.append(finding)
    return kept


def mask(text: str) -> str:
    """Return `text` with every credential replaced by its first six characters, `...` and its length."""
    pieces: list[str] = []
    end = 0
    for finding in find_all(text):
        pieces += text[end : finding.start], finding.masked
        end = finding.end
    return "".join([*pieces, text[end:]])


def scan_fields(fields: Iterable[tuple[str, object]]) -> tuple[str, Finding] | None:
    """Return the first credential of `fields` with its location, or None.

    A field is `(location, value)`, for example `("note.content", "...")`. A value is text or JSON; of JSON
    every string leaf and every key is looked at, and a leaf counts as assigned to the key that holds it.
    """
    fields = tuple(fields)
    if _are_clean(fields):
        return None
    for location, value in fields:
        for label, text in _leaves(value):
            finding = find(text) or (assigned(label, text) if label else None)
            if finding:
                return location, finding
    return None


def refusal(location: str, finding: Finding) -> str:
    """Return the sentence that refuses a write: where, which detector, and the masked excerpt."""
    because = f" after '{finding.trigger}'" if finding.trigger else ""
    shown = f"{finding.detector} {finding.masked}{because}"
    return f"{location} holds what looks like a credential: {shown}; nothing was stored"


def refuse_secrets(fields: Iterable[tuple[str, object]]) -> None:
    """Raise SecretDetected when one of `fields` (see `scan_fields`) holds a credential."""
    hit = scan_fields(fields)
    if hit is None:
        return
    location, finding = hit
    details = {"location": location, "detector": finding.detector, "masked": finding.masked}
    if finding.trigger:
        details["trigger"] = finding.trigger
    raise SecretDetected(refusal(location, finding), details=details)


def _are_clean(fields: Iterable[tuple[str, object]]) -> bool:
    """Whether one look at all texts together shows that none of them holds a finding; False only asks to look closer.

    Joined by a line break, which no shape needs a neighbor for and no value goes across, the texts match wherever one
    of them alone would.
    """
    texts: list[str] = []
    held: list[str] = []
    containers: list[object] = []
    for _, value in fields:
        if isinstance(value, str):
            texts.append(value)
        elif value:
            containers.append(value)
    while containers:
        container = containers.pop()
        if isinstance(container, dict):
            texts += container
            members: Iterable[object] = container.values()
        elif isinstance(container, (list, tuple)):
            members = container
        else:
            continue
        for member in members:
            if isinstance(member, str):
                held.append(member)
            else:
                containers.append(member)
    text = "\n".join(held)
    if len(text) >= table.ENTROPY_MIN_LENGTH and any(len(word) >= table.ENTROPY_MIN_LENGTH for word in text.split()):
        return False  # one of them may be the value of the key that holds it
    text = "\n".join([text, *texts])
    for sign in _SIGNS:
        if sign in text:
            return not (_any_shape().search(text) or _ASSIGNMENT.search(text))
    return True


def _position(finding: Finding) -> int:
    return finding.start


def _searches(text: str) -> list[Iterator[Finding]]:
    """Return the searches that can find something in `text`, mostly none; each yields its findings in order."""
    searches: list[Iterator[Finding]] = []
    if _any_shape().search(text):
        searches += [_shapes(row, text) for row in table.DETECTORS if row.literal in text]
    if _ASSIGNMENT.search(text):
        searches.append(_assignments(text))
    return searches


@cache
def _any_shape() -> re.Pattern[str]:
    """All shapes in one pattern: one pass tells whether a text needs a closer look. Compiled at the first scan."""
    return re.compile("|".join(_source(row).replace("(?P<ok>", "(?:") for row in table.DETECTORS))


@cache
def _pattern(row: table.Detector) -> re.Pattern[str]:
    """The pattern of one shape, compiled on its first appearance in a text: most never appear."""
    return re.compile(_source(row))


def _source(row: table.Detector) -> str:
    literal = re.escape(row.literal)
    boundary = rf"(?<![A-Za-z0-9]{literal})" if row.literal[0].isalnum() else ""
    return f"{literal}{boundary}{row.pattern}"


def _shapes(row: table.Detector, text: str) -> Iterator[Finding]:
    pattern = _pattern(row)
    is_guarded = "ok" in pattern.groupindex
    for match in pattern.finditer(text):
        if is_guarded and match["ok"] is None:
            continue
        start = _with_lead(text, match.start(), row.lead)
        yield _finding(row.name, None, text, start, match.end())


def _with_lead(text: str, start: int, lead: str) -> int:
    if not lead:
        return start
    before = text[max(0, start - _LEAD_MAX) : start]
    return start - (len(before) - len(before.rstrip(lead)))


def _assignments(text: str) -> Iterator[Finding]:
    """Yield the assignments of `text` that the entropy rule refuses.

    An unbroken run is measured from each of its separators on, so `a=b=VALUE` is judged as value of `b` too.
    """
    run_end = tested = position = 0
    while match := _ASSIGNMENT.search(text, position):
        position = start = match.end()
        if start >= run_end:
            run = _RUN.match(text, start)
            run_end = run.end() if run else start
            tested = 0
            if len(set(text[start:run_end])) < _MIN_DISTINCT:
                position = run_end  # no suffix of it can have more
                continue
        tested += 1
        if tested > _ASSIGNMENTS_PER_RUN:
            position = run_end
            continue
        label = _label_before(text, match.start())
        if label and (finding := _judge(label, text, start, run_end)):
            position = run_end
            yield finding


def _label_before(text: str, separator: int) -> str:
    head = text[max(0, separator - _LABEL_MAX) : separator].rstrip(_BEHIND_LABEL)
    return head[len(head.rstrip(_LABEL_CHARS)) :]


def assigned(label: str, text: str) -> Finding | None:
    """Judge `text` as the value of `label`; a value of several words is prose."""
    if len(text) < table.ENTROPY_MIN_LENGTH or not _RUN.fullmatch(text):
        return None
    return _judge(label, text, 0, len(text))


def _judge(label: str, text: str, start: int, end: int) -> Finding | None:
    """Apply the entropy rule to `text[start:end]` as the value of `label`."""
    trigger = trigger_of(label)
    if trigger is None:
        return None
    run = text[start:end]
    start += len(run) - len(run.lstrip(_OPENING_PUNCTUATION))
    value = text[start:end].rstrip(_CLOSING_PUNCTUATION)
    if not _is_random(value):
        return None
    return _finding(table.ENTROPY_DETECTOR, trigger, text, start, start + len(value))


def trigger_of(label: str) -> str | None:
    """Return the trigger word that `label` holds, or None, also when the label is known to be harmless."""
    words = label.lower()
    match = _TRIGGER.search(words)
    if match is None:
        return None
    name = words.replace("-", "_")
    if any(name == harmless or name.endswith(f"_{harmless}") for harmless in table.HARMLESS_LABELS):
        return None
    return match[0]


def _is_random(value: str) -> bool:
    if len(value) < table.ENTROPY_MIN_LENGTH or _DIGEST.match(value):
        return False
    if value.count("/") >= table.PATH_SLASHES and not _BASE64_WITH_ALL_CLASSES.fullmatch(value):
        return False
    return _entropy_bits(value[:_ENTROPY_CHARS]) >= table.ENTROPY_MIN_BITS


def _entropy_bits(value: str) -> float:
    """Return the Shannon entropy of `value` in bits a character (ASCII: a byte)."""
    size = len(value)
    counts = (value.count(char) for char in set(value))
    return math.log2(size) - sum(count * math.log2(count) for count in counts) / size


def _finding(detector: str, trigger: str | None, text: str, start: int, end: int) -> Finding:
    masked = f"{text[start : min(end, start + _SHOWN_CHARS)]}...{end - start}"
    return Finding(detector, trigger, masked, start, end)


def _leaves(value: object) -> Iterator[tuple[str | None, str]]:
    """Yield `(key or None, text)` for every string of a JSON value in document order, without recursion.

    A key is a string of its own, before its value.
    """
    stack: list[tuple[str | None, object]] = [(None, value)]
    while stack:
        label, item = stack.pop()
        if isinstance(item, str):
            yield label, item
        elif isinstance(item, dict):
            for key in reversed(item):
                stack += ((key, item[key]), (None, key))
        elif isinstance(item, (list, tuple)):
            stack += [(label, element) for element in reversed(item)]
