"""What a credential looks like.

Printed from registry/secrets.yaml by `make generate`; do not edit.
"""

from typing import NamedTuple


class Detector(NamedTuple):
    """One shape of credential. `literal` is searched first, `pattern` must match right behind it."""

    name: str
    literal: str
    lead: str
    pattern: str
    doc: str


DETECTORS: tuple[Detector, ...] = (
    Detector("aws-access-key-id", "AKIA", "", "[A-Z0-9]{16,}", "AWS access key id, at least 20 characters."),
    Detector(
        "aws-access-key-id",
        "ASIA",
        "",
        "[A-Z0-9]{16,}",
        "Temporary AWS access key id, at least 20 characters.",
    ),
    Detector(
        "github-token",
        "ghp_",
        "",
        "(?:(?P<ok>[A-Za-z0-9_-]{32,512}+(?![A-Za-z0-9_-]))|[A-Za-z0-9_-]*+)",
        "GitHub personal access token, at least 36 characters.",
    ),
    Detector(
        "github-token",
        "gho_",
        "",
        "(?:(?P<ok>[A-Za-z0-9_-]{32,512}+(?![A-Za-z0-9_-]))|[A-Za-z0-9_-]*+)",
        "GitHub OAuth token, at least 36 characters.",
    ),
    Detector(
        "github-token",
        "github_pat_",
        "",
        "(?:(?P<ok>(?=[A-Za-z0-9_-]{0,64}?(?:[0-9][A-Za-z0-9]{8}|[A-Za-z0-9]{16}))[A-Za-z0-9_-]{9,512}+(?![A-Za-z0-9_-]))|[A-Za-z0-9_-]*+)",
        "GitHub fine-grained token, at least 20 characters with an unbroken random part (an identifier made of words is none).",
    ),
    Detector(
        "anthropic-api-key",
        "sk-ant-",
        "",
        "(?:(?P<ok>[A-Za-z0-9_-]{13,512}+(?![A-Za-z0-9_-]))|[A-Za-z0-9_-]*+)",
        "Anthropic key, at least 20 characters.",
    ),
    Detector(
        "openai-api-key",
        "sk-proj-",
        "",
        "(?:(?P<ok>[A-Za-z0-9_-]{32,512}+(?![A-Za-z0-9_-]))|[A-Za-z0-9_-]*+)",
        "OpenAI project key, at least 40 characters.",
    ),
    Detector(
        "openai-api-key",
        "sk-",
        "",
        "(?:(?P<ok>(?<![_-]sk-)(?!learn|image|lego|base|misc)(?=[A-Za-z0-9_-]{0,64}?(?:[0-9][A-Za-z0-9]{8}|[A-Za-z0-9]{16}))[A-Za-z0-9_-]{27,512}+(?![A-Za-z0-9_-]))|[A-Za-z0-9_-]*+)",
        "OpenAI key, at least 30 characters with an unbroken random part; sk-learn, sk-image, sk-lego, sk-base and sk-misc begin names, not keys. The prefix is short, so it must not follow `-` or `_` either.",
    ),
    Detector(
        "stripe-secret-key",
        "sk_live_",
        "",
        "(?:(?P<ok>[A-Za-z0-9_-]{22,512}+(?![A-Za-z0-9_-]))|[A-Za-z0-9_-]*+)",
        "Stripe live secret key, at least 30 characters.",
    ),
    Detector(
        "stripe-restricted-key",
        "rk_live_",
        "",
        "(?:(?P<ok>[A-Za-z0-9_-]{22,512}+(?![A-Za-z0-9_-]))|[A-Za-z0-9_-]*+)",
        "Stripe live restricted key, at least 30 characters.",
    ),
    Detector(
        "fly-token",
        "fm2_",
        "",
        "(?:(?P<ok>[A-Za-z0-9+/=_-]{16,4096}+(?![A-Za-z0-9+/=_-]))|[A-Za-z0-9+/=_-]*+)",
        "Fly.io token, at least 20 characters.",
    ),
    Detector(
        "fly-token",
        "FlyV1 ",
        "",
        "(?=[A-Za-z+/=-]*+[0-9_])[A-Za-z0-9+/=_-]{4,}",
        "Fly.io authorization value: the scheme and at least 4 characters that are no plain word.",
    ),
    Detector(
        "vercel-token",
        "vercel_",
        "",
        "(?:(?P<ok>(?=[A-Za-z0-9_-]{0,64}?(?:[0-9][A-Za-z0-9]{8}|[A-Za-z0-9]{16}))[A-Za-z0-9_-]{13,512}+(?![A-Za-z0-9_-]))|[A-Za-z0-9_-]*+)",
        "Vercel token, at least 20 characters with an unbroken random part (an identifier made of words is none).",
    ),
    Detector(
        "slack-token",
        "xoxb-",
        "",
        "(?:(?P<ok>[A-Za-z0-9_-]{35,512}+(?![A-Za-z0-9_-]))|[A-Za-z0-9_-]*+)",
        "Slack bot token, at least 40 characters.",
    ),
    Detector(
        "slack-token",
        "xoxa-",
        "",
        "(?:(?P<ok>[A-Za-z0-9_-]{35,512}+(?![A-Za-z0-9_-]))|[A-Za-z0-9_-]*+)",
        "Slack workspace token, at least 40 characters.",
    ),
    Detector(
        "slack-token",
        "xoxp-",
        "",
        "(?:(?P<ok>[A-Za-z0-9_-]{35,512}+(?![A-Za-z0-9_-]))|[A-Za-z0-9_-]*+)",
        "Slack user token, at least 40 characters.",
    ),
    Detector(
        "slack-token",
        "xoxr-",
        "",
        "(?:(?P<ok>[A-Za-z0-9_-]{35,512}+(?![A-Za-z0-9_-]))|[A-Za-z0-9_-]*+)",
        "Slack refresh token, at least 40 characters.",
    ),
    Detector(
        "slack-token",
        "xoxs-",
        "",
        "(?:(?P<ok>[A-Za-z0-9_-]{35,512}+(?![A-Za-z0-9_-]))|[A-Za-z0-9_-]*+)",
        "Slack session token, at least 40 characters.",
    ),
    Detector(
        "age-secret-key",
        "AGE-SECRET-KEY-",
        "",
        "[A-Za-z0-9]{45,}",
        "age identity, at least 60 characters.",
    ),
    Detector(
        "pem-private-key",
        "-----BEGIN ",
        "",
        "[A-Z0-9 ]{0,40}?PRIVATE KEY(?: BLOCK)?-----(?:(?:(?!-----)[\\s\\S]){0,16384}+-----END [A-Z0-9 ]{0,40}+-----|(?:\\s++[A-Za-z0-9+/=]{16,}+)*+)",
        "A private key in PEM form: the header, and the block behind it up to its end line.",
    ),
    Detector(
        "jwt",
        "eyJ",
        "",
        "(?:(?P<ok>[A-Za-z0-9_-]{7,}+\\.eyJ[A-Za-z0-9_-]{7,}+\\.[A-Za-z0-9_-]++)|[A-Za-z0-9_-]*+)",
        "A signed JSON web token: three parts with dots between, the first two begin with eyJ and have at least 10 characters.",
    ),
    Detector(
        "url-userinfo",
        "://",
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-",
        "(?<=[A-Za-z0-9]://)[^\\s:@/?#\"'`<>()\\[\\]{}]{0,256}+:(?![*$%]|x+@)[^\\s@/?#\"'`<>()\\[\\]{}]{4,256}+(?=@[A-Za-z0-9\\[])",
        "A URL with a user and a password of at least 4 characters; a placeholder such as ${PASSWORD} or **** is none. The finding begins at the scheme.",
    ),
)

ENTROPY_DETECTOR = "high-entropy-token"

ENTROPY_MIN_LENGTH = 24

ENTROPY_MIN_BITS = 4.5

TRIGGERS = (
    "private_key",
    "access_key",
    "api_key",
    "apikey",
    "credential",
    "password",
    "passwd",
    "secret",
    "bearer",
    "auth",
    "key",
)

TOKEN_TRIGGER = "token"

HARMLESS_LABELS = (
    "next_token",
    "next_page_token",
    "page_token",
    "continuation_token",
    "public_key",
    "primary_key",
    "foreign_key",
    "sort_key",
    "partition_key",
    "cache_key",
    "idempotency_key",
)

DIGEST_PREFIX = "sha[0-9]{1,3}[-:_=]"

PATH_SLASHES = 2
