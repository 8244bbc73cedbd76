"""The secret scanner: what is a credential, what never is, what a message shows, and that it stays fast."""

import base64
import hashlib
import random
import string
import time
import uuid

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hivekeep.gate import secrets
from hivekeep_contract import secrets as table
from hivekeep_contract.errors import SecretDetected

BASE62 = string.ascii_letters + string.digits
RANDOM_40 = "q7Rt2LxK9mVb4ZcN8wHs" + "P3dYf6JgT1eUa5XoC0iQ"  # 40 different characters: 5.3 bits each

# Built from parts, so that no text here looks like a credential to a scanner of repositories.
SAMPLES = [
    ("aws-access-key-id", "AKIA" + "IOSFODNN7EXAMPLE"),
    ("aws-access-key-id", "ASIA" + "IOSFODNN7EXAMPLE"),
    ("github-token", "ghp_" + "a1B2" * 9),
    ("github-token", "gho_" + "a1B2" * 9),
    ("github-token", "github_pat_" + "11ABCDEFG0" + "a1B2" * 9),
    ("openai-api-key", "sk-proj-" + "a1B2" * 9),
    ("openai-api-key", "sk-" + "a1B2" * 12),
    ("anthropic-api-key", "sk-ant-" + "api03-" + "a1B2" * 9),
    ("stripe-secret-key", "sk_live_" + "a1B2" * 6),
    ("stripe-restricted-key", "rk_live_" + "a1B2" * 6),
    ("fly-token", "fm2_" + "a1B2" * 5),
    ("fly-token", "FlyV1 " + "fm2_"),
    ("vercel-token", "vercel_" + "a1B2" * 6),
    *(("slack-token", f"xox{kind}-" + "123456789012-" * 2 + "a1B2" * 6) for kind in "baprs"),
    ("age-secret-key", "AGE-SECRET-KEY-" + "1" + "QPZRY9X8" * 7),
    ("pem-private-key", "-----BEGIN RSA " + "PRIVATE KEY-----"),
    ("jwt", "eyJ" + "hbGciOi" + ".eyJ" + "zdWIiOi" + ".c2ln"),
    ("url-userinfo", "postgres://user" + ":pass"),
]


def random_text(seed: int, size: int) -> str:
    """A reproducible text of letters and digits."""
    return "".join(random.Random(seed).choices(BASE62, k=size))


@pytest.mark.parametrize(("detector", "sample"), SAMPLES)
@pytest.mark.parametrize("frame", ["{}", "see {} here", "设备{}。", '{{"a": "{}"}}', "x={}", "({})"])
def test_every_named_shape_is_found_in_every_frame(detector: str, sample: str, frame: str) -> None:
    """A named shape is a credential wherever it stands behind a token boundary, also in CJK text, without a trigger."""
    text = frame.format(sample + "@db.example" if detector == "url-userinfo" else sample)
    finding = secrets.find(text)
    assert finding is not None
    assert (finding.detector, finding.trigger, finding.start) == (detector, None, text.index(sample))
    assert finding.masked == f"{sample[:6]}...{len(sample)}"


def test_the_samples_cover_every_row_of_the_table() -> None:
    """No detector of the contract is without a test."""
    literals = {row.literal for row in table.DETECTORS}
    assert {literal for literal in literals if not any(literal in sample for _, sample in SAMPLES)} == set()


@pytest.mark.parametrize(
    ("prefix", "shortest"),
    [
        ("AKIA", 20),
        ("ASIA", 20),
        ("ghp_", 36),
        ("gho_", 36),
        ("github_pat_", 20),
        ("sk-", 30),
        ("sk-ant-", 20),
        ("sk_live_", 30),
        ("rk_live_", 30),
        ("fm2_", 20),
        ("vercel_", 20),
        ("xoxb-", 40),
        ("AGE-SECRET-KEY-", 60),
    ],
)
def test_a_token_has_its_minimum_length(prefix: str, shortest: int) -> None:
    """A token counts from its minimum length on, prefix included, and not one character earlier."""
    token = (prefix + "7" * 80)[:shortest]
    assert secrets.find(token) is not None
    assert secrets.find(token[:-1]) is None


def test_a_short_project_key_is_still_a_key() -> None:
    """From 30 to 39 characters `sk-proj-...` is found by the shape of any `sk-` key, below that not at all."""
    token = "sk-proj-" + "7" * 32
    assert [secrets.find(token[:size]) is not None for size in (40, 39, 30, 29)] == [True, True, True, False]


@pytest.mark.parametrize("sample", ["AKIA" + "IOSFODNN7EXAMPLE", "ghp_" + "a1B2" * 9, "sk-ant-" + "a1B2" * 12])
def test_a_prefix_inside_a_word_is_no_token(sample: str) -> None:
    """A letter or digit in front of the prefix means the token begins elsewhere."""
    assert secrets.find("x" + sample) is None
    assert secrets.find("_" + sample) is not None


@pytest.mark.parametrize("prefix", ["ghp_", "sk-", "sk-ant-", "vercel_", "fm2_", "rk_live_", "github_pat_"])
def test_a_prefix_inside_base64_data_is_no_token(prefix: str) -> None:
    """In the URL alphabet of base64 any prefix can turn up by chance; a token is not thousands of characters long."""
    assert secrets.find(f"{random_text(1, 3000)}-{prefix}{random_text(2, 6000)}") is None
    assert secrets.find(f"{random_text(1, 100)}_sk-{random_text(2, 100)}") is None


@pytest.mark.parametrize(
    "text",
    [
        "the auth module was refactored",
        "sk-learn pipelines and sk-image filters of the sk-lego-misc-collection-of-estimators",
        "sk-learn-" + "a1B2" * 9,
        "tokenizer_config_v2_large_model",
        "vercel_project_environment_variable",
        "github_pat_token_expiration_date_setting",
        "sk-folding-cube-container-element-large",
        "the FlyV1 tokens are Macaroons",
        "FlyV1 Macaroons",
        "the key " + RANDOM_40,
        "secret sauce " + RANDOM_40 + " and token " + RANDOM_40,
        RANDOM_40,
        "monkey=" + RANDOM_40,
        "tokenizer=" + RANDOM_40,
        "token_count: " + RANDOM_40,
        "next_token=" + RANDOM_40,
        "public_key: " + RANDOM_40,
        "key=src/Components/Auth/LoginFormQVWXYZ27.Spec.tsx",
        "key: https://Example.com/a/B/c?QWERTYuiopASDFGhjkl=123",
        "key=/usr/local/Lib/QwErTyUiOpAsDfGhJkLzXcVbNm12",
        "key=sha512-" + base64.b64encode(hashlib.sha512(b"x").digest()).decode(),
        "key: one two three four five six seven eight nine ten",
        "password=" + "a" * 60,
        "password=" + RANDOM_40[:23],
        "password=${DATABASE_PASSWORD_FROM_QVX123_zkjw}",
        "postgres://user:${PASSWORD}@db",
        "postgres://user:****@db",
        "postgres://user:abc@db",
        "postgres://db:5432/name",
        "mailto:someone@example.com, +43 660 1234567",
    ],
)
def test_what_is_no_credential_passes(text: str) -> None:
    """Prose, names, paths, digests, placeholders and bare random text are stored as they are."""
    assert secrets.find_all(text) == []
    assert secrets.mask(text) == text


@pytest.mark.parametrize(
    ("text", "trigger"),
    [
        ("api_key=" + RANDOM_40, "api_key"),
        ("API_KEY = '" + RANDOM_40 + "'", "api_key"),
        ("api-key: " + RANDOM_40, "key"),
        ("token: " + RANDOM_40, "token"),
        ("access_token=" + RANDOM_40, "token"),
        ("x-token-id: " + RANDOM_40, "token"),
        ('{"secret":"' + RANDOM_40 + '","x":1}', "secret"),
        ('{\\"secret\\": \\"' + RANDOM_40 + '\\"}', "secret"),
        ("a=b_secret=" + RANDOM_40, "secret"),
        ("https://x.example/?a=1&auth=" + RANDOM_40 + "&b=2", "auth"),
        ('config["password"] = "' + RANDOM_40 + '"', "password"),
        (":credential => " + RANDOM_40 + ",", "credential"),
        ("passwd := " + RANDOM_40, "passwd"),
        ("私钥key=" + RANDOM_40 + "。", "key"),
        ("aws_secret_access_key=" + "wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYEXAMPLEKEY", "secret"),
    ],
)
def test_a_random_value_assigned_to_a_credentials_name_is_found(text: str, trigger: str) -> None:
    """The entropy rule looks at assignments in every common notation and reports the word that gave it away."""
    finding = secrets.find(text)
    assert finding is not None
    assert (finding.detector, finding.trigger) == ("high-entropy-token", trigger)
    assert finding.masked in {"q7Rt2L...40", "wJalrX...40"}
    assert finding.end - finding.start == 40


def test_the_entropy_bound_is_exact() -> None:
    """24 characters of which one pair is equal have 4.50 bits and are refused; with two pairs, 4.42, they pass."""
    one_pair, two_pairs = RANDOM_40[:23] + RANDOM_40[:1], RANDOM_40[:22] + RANDOM_40[:2]
    assert secrets.find("key=" + one_pair) is not None
    assert secrets.find("key=" + two_pairs) is None


@settings(derandomize=True, max_examples=150, deadline=None)
@given(st.uuids(), st.binary(max_size=300), st.sampled_from(["{}", "key={}", "secret: {}", '"token": "{}"']))
def test_ids_and_digests_are_never_refused(number: uuid.UUID, data: bytes, frame: str) -> None:
    """UUIDs and digests pass bare and as the value of a credential's name; base64 data passes wherever it is bare."""
    digests = [hashlib.new(name, data).hexdigest() for name in ("md5", "sha1", "sha256", "sha512")]
    prefixed = f"sha256-{base64.b64encode(hashlib.sha256(data).digest()).decode()}"
    for value in (str(number), number.hex, str(number).upper(), *digests, prefixed):
        assert secrets.find(frame.format(value)) is None
    for encode in (base64.b64encode, base64.urlsafe_b64encode, base64.b32encode):
        assert secrets.find(f"the key, then the data\n{encode(data).decode()}") is None


PROSE = (
    "the key of a token is auth for secret api password bearer credential and we moved it to sk-learn or "
    "AKIA-like ids; see https://example.com/docs/auth. config: value = 42, e.g. note-taking (v2) don't 设备 naïve"
)


@settings(derandomize=True, max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(PROSE.split()), max_size=60), st.sampled_from([" ", "\n", ", ", ": ", " = "]))
def test_prose_is_never_refused(words: list[str], joint: str) -> None:
    """Sentences full of trigger words and assignment signs pass unchanged."""
    text = joint.join(words)
    assert secrets.find(text) is None
    assert secrets.mask(text) == text


@settings(derandomize=True, max_examples=100, deadline=None)
@given(st.text(max_size=40), st.sampled_from([sample for _, sample in SAMPLES[:17]]), st.text(max_size=40))
def test_mask_hides_a_finding_and_nothing_else(before: str, sample: str, after: str) -> None:
    """A masked text holds no finding, and what stands around the credential is untouched."""
    masked = secrets.mask(f"{before} {sample} {after}")
    assert masked == f"{before} {sample[:6]}...{len(sample)} {after}"
    assert secrets.find(masked) is None


def test_mask_replaces_every_span_and_keeps_the_rest() -> None:
    """Each finding becomes its first six characters and its length; a private key goes with its whole block."""
    token = "ghp_" + "a1B2" * 9
    body = "\n".join([random_text(1, 64), random_text(2, 64)])
    key = "-----BEGIN " + f"PRIVATE KEY-----\n{body}\n-----END " + "PRIVATE KEY-----"
    text = f"first {token}, then\n{key}\nand api_key={RANDOM_40}."
    assert secrets.mask(text) == f"first ghp_a1...40, then\n-----B...{len(key)}\nand api_key=q7Rt2L...40."


def test_a_cut_private_key_is_masked_with_its_lines() -> None:
    """The lines of a key whose end is missing are no less secret; the prose after them stays."""
    text = "-----BEGIN " + f"PRIVATE KEY-----\n{random_text(1, 64)}\n{random_text(2, 40)}\nis cut"
    assert secrets.mask(text) == f"-----B...{len(text) - len(chr(10) + 'is cut')}\nis cut"


def test_the_first_finding_is_the_one_that_stands_first() -> None:
    """`find` answers by position in the text, not by the order of the detectors."""
    late, early = "AKIA" + "IOSFODNN7EXAMPLE", "xoxb-" + "a1B2" * 10
    finding = secrets.find(f"{early} {late}")
    assert finding is not None
    assert finding.detector == "slack-token"


def test_overlapping_findings_are_told_once() -> None:
    """A token that is also the value of an assignment, or part of a longer key, is one finding."""
    found = secrets.find_all("secret=" + "sk-ant-api03-" + RANDOM_40)
    assert [(item.detector, item.start) for item in found] == [("anthropic-api-key", 7)]


def test_fields_are_looked_at_in_order_and_to_the_last_leaf() -> None:
    """The location of the first field with a finding is told; of JSON every string leaf counts, at any depth."""
    token = "ghp_" + "a1B2" * 9
    nested: object = token
    for _ in range(5000):
        nested = [nested]
    fields = [("note.content", "harmless"), ("note.name", None), ("note.properties", {"n": 1, "deep": nested})]
    hit = secrets.scan_fields(fields)
    assert hit is not None
    assert (hit[0], hit[1].detector) == ("note.properties", "github-token")
    assert secrets.scan_fields([("note.tags", ["a", "b"]), ("note.properties", {"a": [1, None, True]})]) is None


def test_a_key_of_an_object_is_the_label_of_its_value() -> None:
    """`{"api_key": "<random>"}` is an assignment like any other; under a harmless key the same text passes."""
    hit = secrets.scan_fields([("entity.properties", {"service": {"api_key": [RANDOM_40]}})])
    assert hit is not None
    assert (hit[0], hit[1].trigger, hit[1].masked) == ("entity.properties", "api_key", "q7Rt2L...40")
    assert secrets.scan_fields([("entity.properties", {"checksum": RANDOM_40})]) is None


def test_a_key_of_an_object_is_a_text_too() -> None:
    """A credential is found where it stands as a name, at any depth and whatever its value is."""
    token = "ghp_" + "a1B2" * 9
    for value in (None, 7, "harmless", {}, ["x"]):
        hit = secrets.scan_fields([("note.properties", {"a": 1, "service": [{token: value}]})])
        assert hit is not None
        assert (hit[0], hit[1].detector) == ("note.properties", "github-token")
    hit = secrets.scan_fields([("note.properties", {f"api_key={RANDOM_40}": 1})])
    assert hit is not None
    assert hit[1].trigger == "api_key"
    assert secrets.scan_fields([("note.properties", {"api_key": None, str(uuid.uuid4()): {"a" * 40: 1}})]) is None


def test_a_refusal_names_place_detector_and_excerpt_but_never_the_value() -> None:
    """The error carries what a writer needs to find the text, in the sentence and in the details."""
    with pytest.raises(SecretDetected) as caught:
        secrets.refuse_secrets([("note.content", f"api_key={RANDOM_40}")])
    assert str(caught.value) == (
        "note.content holds what looks like a credential: high-entropy-token q7Rt2L...40 after 'api_key'; "
        "nothing was stored"
    )
    assert caught.value.details == {
        "location": "note.content",
        "detector": "high-entropy-token",
        "masked": "q7Rt2L...40",
        "trigger": "api_key",
    }
    assert RANDOM_40[:7] not in repr(caught.value.body())
    secrets.refuse_secrets([("note.content", "nothing here")])


FRAGMENTS = [text for _, text in SAMPLES] + [
    "api_key=" + RANDOM_40,
    RANDOM_40,
    "-----BEGIN ",
    "see: a",
    "",
    "x",
    "plain words",
]


@given(st.lists(st.tuples(st.sampled_from(["token", "note"]), st.sampled_from(FRAGMENTS)), max_size=4))
def test_the_look_at_all_texts_together_hides_no_finding(pairs: list[tuple[str, str]]) -> None:
    """Beside any other texts, before or behind them, a credential is found where it is found alone."""
    fields: list[tuple[str, object]] = [(f"text {index}", text) for index, (_, text) in enumerate(pairs)]
    fields += [(f"object {index}", {"in": [{key: text}]}) for index, (key, text) in enumerate(pairs)]
    alone = (secrets.scan_fields([field]) for field in fields)
    assert secrets.scan_fields(fields) == next((found for found in alone if found), None)


MEBIBYTE = 1 << 20
HOSTILE = [
    "a", "=", "key=", "key: ", "sk-", "-eyJ", ".eyJ", "eyJabcdefg.", "://a:", "-----BEGIN ", "vercel_", "github_pat_",
    "-----BEGIN PRIVATE KEY-----", "xoxb-", "FlyV1 ", "key=abcdefghijklmnopqrstuvw ", "a=b:", '"key":"', "=        ",
    "".join(f"{char}=" for char in BASE62), "key=abcdefghijklmnopqrstuvwxyz0123 " * 2 + "\n",
]  # fmt: skip


@pytest.mark.parametrize("unit", HOSTILE)
def test_a_hostile_mebibyte_is_scanned_in_linear_time(unit: str) -> None:
    """Repeated beginnings of every shape cost at most a few microseconds a byte; quadratic work would take minutes."""
    text = unit * (MEBIBYTE // len(unit))
    began = time.process_time()
    secrets.find(text)
    assert time.process_time() - began < 2.0


def test_a_mebibyte_of_prose_or_data_costs_milliseconds() -> None:
    """What is stored in practice, text and base64, is scanned at more than 4 MiB a second even on a busy machine."""
    prose = "The auth key of each token: see https://example.com/docs, section 4-b. " * (MEBIBYTE // 71)
    data = base64.b64encode(random.Random(5).randbytes(MEBIBYTE * 3 // 4)).decode()
    for text in (prose, data):
        began = time.process_time()
        assert secrets.find(text) is None
        assert time.process_time() - began < 0.25
