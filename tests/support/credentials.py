"""Credentials that are none, made at run time from parts, and the search for what is left of them.

Each holds `MARK`, which nothing else does: whoever finds it, or half of it, in bytes that should hold no credential has
found a leak, whatever kind it was and however it is written there.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from hivekeep_contract import secrets as table

MARK = "Q7ZX9KVJ" + "4WTR2HBN"
TAIL = "aB3dE5fG7hJ9kL2mN4pQ6rS8tU1vW3xY5zA7bC9d" + "E2fG4hJ6"
RANDOM = MARK + "abcdefghijkm"
"""Random enough for the rule about assignments."""

_PEM = "-----{} RSA PRIVATE" + " KEY-----"
_SHAPED = {
    "eyJ": f"eyJ{MARK}.eyJ{TAIL}.{MARK}",
    "-----BEGIN ": "\n".join([_PEM.format("BEGIN"), MARK + TAIL, _PEM.format("END")]),
    "://": f"https://ada:{MARK}@example.org/x",
}
"""By the literal of the detector, where a credential is more than the literal and random characters."""

_PREFIXES = (
    ["sk-", "gho_", "ghp_", "ghr_", "ghs_", "ghu_", "github_pat_", "npm_", "hf_", "AKIA", "ASIA", "AIza"]
    + [f"xox{letter}-" for letter in "abprs"]
)  # fmt: skip
_LABELS = ("api key", "api_key", "access token", "refresh-token", "client_secret", "password", "passwd", "secret")


class Sample(NamedTuple):
    """A credential: what it is, and the text that holds it. `behind_escapes` says that its spelling hides its shape."""

    name: str
    text: str
    behind_escapes: bool = False


def detected() -> list[tuple[table.Detector, str]]:
    """A credential for each shape of the table that refuses a write."""
    return [(row, _SHAPED.get(row.literal, row.literal + MARK + TAIL)) for row in table.DETECTORS]


def samples() -> list[Sample]:
    """Credentials of every kind that the sanitising rules know, in texts."""
    return list(_samples())


def _samples() -> Iterator[Sample]:
    for row, text in detected():
        yield Sample(f"{row.name} {row.literal}", text)
    for prefix in _PREFIXES:
        yield Sample(f"prefix {prefix}", prefix + MARK + TAIL[:8])
    for scheme in ("Bearer", "Basic", "token"):
        yield Sample(f"header {scheme}", f"Authorization: {scheme} {MARK}")
    for label in _LABELS:
        yield Sample(f"assigned {label}", f"{label}={MARK}")
        yield Sample(f"quoted {label}", f'the {label}: "{MARK}" is right')
    yield Sample("random", f"auth_key={RANDOM}")
    yield Sample("user of a url", f"https://{MARK}@example.org/x")
    yield Sample("query of a url", f"https://example.org/x?token={MARK}")
    yield Sample("fragment of a url", f"https://example.org/x#access_token={MARK}")
    yield Sample("user of a url in a text", f"clone https://ada:{MARK}@example.org/x now")
    yield Sample("password with signs", f"clone ssh://ada:{MARK}/p?w#d@example.org/x now")
    yield Sample("query of a url in a text", f"see https://example.org/x?a=1&api_key={MARK} there")
    yield Sample("fragment of a url in a text", f"see https://example.org/x#id_token={MARK} there")
    yield Sample("path", f"/srv/{'ghp' + '_'}{MARK}{TAIL}/notes.txt")
    yield Sample("windows path", f"C:\\keys\\{'ghp' + '_'}{MARK}{TAIL}\\notes.txt")
    yield Sample("json in a text", json.dumps({"password": MARK}))
    yield Sample("json in json in a text", json.dumps(json.dumps({"client_secret": MARK})))
    yield Sample("percent escapes", f"ghp%5F{MARK}{TAIL}", behind_escapes=True)
    yield Sample("escaped prefix", f"\\u0067hp_{MARK}{TAIL}", behind_escapes=True)
    yield Sample("invisible sign", f"gh\u200bp_{MARK}{TAIL}", behind_escapes=True)
    yield Sample("escaped url", f"see https:\\/\\/ada:{MARK}@example.org\\/x", behind_escapes=True)
    yield Sample("in a longer text", f"{'word ' * 300}ghp_{MARK}{TAIL}{' word' * 300}")


def telling() -> dict[str, Any]:
    """Members whose keys say that their values must go, whatever they look like."""
    plain = f"plain {MARK} words"
    return {
        "password": plain,
        "db_passwd": plain,
        "clientSecret": plain,
        "apiToken": plain,
        "APIKEY": plain,
        "api-key": plain,
        "Authorization": plain,
        "Set-Cookie": [plain],
        "credential": {"a": plain},
        "private key": plain,
        "headers": {"cookie": plain, "x": [{"authorization": plain}]},
        "credentials": {"password": plain},
        "env": {"HOME": plain, "CI": "1"},
        "environment": plain,
        "chain_of_thought": plain,
        "hidden-reasoning": {"a": plain},
        "privateReasoning": plain,
        "x_internal_monologue_2": [plain],
    }


def spellings() -> dict[bytes, str]:
    """What would be found of the mark, each with how it is written there. In lower case, as the bytes searched are."""
    found: dict[bytes, str] = {}
    for half in (MARK[:8], MARK[8:]):
        plain = half.encode()
        found |= {
            plain.lower(): "plain",
            plain.hex().encode(): "hex",
            half.encode("utf-16-le").lower(): "utf-16",
            "".join(f"\\u{ord(sign):04x}" for sign in half).encode(): "JSON escapes",
            "".join(f"%{ord(sign):02x}" for sign in half).encode(): "percent escapes",
            half[::-1].lower().encode(): "backwards",
        }
    for shift in range(3):
        whole = base64.b64encode(b"\0" * shift + MARK.encode())
        # The first and the last group depend on what stands beside the mark.
        found[whole[4:-4].lower()] = f"base64 at {shift}"
    return found


def leaks(data: bytes) -> set[str]:
    """How the mark is written in these bytes; nothing when it is not there."""
    low = data.lower()
    return {spelling for needle, spelling in spellings().items() if needle in low}


def leaking_files(folder: Path) -> dict[str, set[str]]:
    """What leaks of every file below a folder, by its name there; those without a leak are left out."""
    files = (file for file in sorted(folder.rglob("*")) if file.is_file())
    found = {str(file.relative_to(folder)): leaks(file.read_bytes()) for file in files}
    return {name: told for name, told in found.items() if told}
