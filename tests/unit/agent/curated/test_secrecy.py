"""No credential gets into the curated memory, wherever it stands and whatever stands beside it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hivekeep.agent.curated import secrecy
from hivekeep.gate.credentials import holds_credential
from hivekeep_contract.gateway_errors import SecurityRejection

SECRETS = [
    "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8",
    "sk-abcdefghij0123456",
    "password = correct-horse-battery",
    "https://ada:hunter22@example.org/x",
    "-----BEGIN RSA PRIVATE KEY-----",
    "Authorization: Bearer abcdefghijklmnop",
    "gh\\u0070_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8",
    "https://example.org/?access_token=abcdefghijklmnop",
]
TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=8)


def refused(value: Any) -> bool:
    """Whether a value is refused."""
    try:
        secrecy.refuse([("/field", value)])
    except SecurityRejection as why:
        return why.details == {"reason": "secret", "field": "/field"}
    return False


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize(
    "wrapped",
    [
        lambda secret: secret,
        lambda secret: [secret],
        lambda secret: {"a": {"b": [0, secret]}},
        lambda secret: {secret: 1},
        lambda secret: ["plain", "https://example.org/page", secret, "more"],
        lambda secret: ["back\\", secret],
        lambda secret: [f"Use {secret} here."],
    ],
)
def test_a_credential_is_found_wherever_it_stands(secret: str, wrapped: Any) -> None:
    """In a value, a key, a list, a sentence."""
    assert refused(wrapped(secret))


@pytest.mark.parametrize(
    "value",
    [
        "Passwords are in the vault.",
        ["key:", "value"],
        ["password =", "correct-horse-battery"],
        {"token": 3, "id": "2f0c6c1e-0d7b-4a57-9f0e-5b8f6a1c9d10", "hash": "0" * 64},
        "https://example.org/docs?page=2",
        "[REDACTED:known_token_prefix]",
        None,
        7,
    ],
)
def test_what_only_looks_like_one_is_taken(value: Any) -> None:
    """Ids, digests, prose, plain addresses, what was masked already, and pieces in two texts."""
    assert not refused(value)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.lists(TEXTS, max_size=4), st.sampled_from(SECRETS), st.lists(TEXTS, max_size=4))
def test_no_neighbor_hides_a_credential(before: list[str], secret: str, after: list[str]) -> None:
    """Looking at all texts together finds what looking at each finds."""
    assert refused([*before, secret, *after])


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.lists(st.text(st.sampled_from("ab \\\n=:/?%-_pwkey{}\"'"), max_size=30), max_size=5))
def test_no_neighbor_makes_a_credential(texts: list[str]) -> None:
    """Texts of which none holds a credential are taken together."""
    assert refused(texts) == any(map(holds_credential, texts))
