"""Embedders: which are registered, what they take of a text, and what vectors they make."""

from __future__ import annotations

import hashlib
import math
import subprocess
import sys
import unicodedata
from array import array
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hivekeep.search.embedders import Embedders, EmbedderUnavailable, load_embedders, minilm
from hivekeep.search.embedders.hashed import HashedEmbedder
from hivekeep.search.embedders.minilm import MODEL_SHA256, MiniLmEmbedder
from hivekeep.search.embedders.protocol import Prepared, bounded, unit_vector
from hivekeep.search.embedders.source import embedding_text
from hivekeep_contract.errors import InvalidInput
from hivekeep_contract.limits import (
    EMBEDDING_HASHED_BYTES_MAX,
    EMBEDDING_HASHED_DIMS,
    EMBEDDING_MINILM_TOKENS_MAX,
    EMBEDDING_QUERY_VECTORS_KEPT,
)
from hivekeep_contract.settings import Settings

TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=400)
LONG = st.builds(lambda words, times: " ".join(words) * times, st.lists(TEXTS, max_size=8), st.integers(1, 40))
OWN_TOKENS = EMBEDDING_MINILM_TOKENS_MAX - 2
MINILM = MiniLmEmbedder(threads=1)


def numbers(vector: bytes) -> list[float]:
    """The numbers of a vector."""
    found = array("f", vector)
    if sys.byteorder == "big":
        found.byteswap()
    return list(found)


def similarity(one: bytes, other: bytes) -> float:
    """The cosine of two vectors of length one."""
    return sum(a * b for a, b in zip(numbers(one), numbers(other), strict=True))


class Counted(HashedEmbedder):
    """The embedder `hashed`, which counts what it is asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, inputs: Sequence[str]) -> list[bytes]:
        """The vectors of the inputs."""
        self.asked += inputs
        return super().embed(inputs)


# the text of a record


@pytest.mark.parametrize(
    ("title", "body", "text"),
    [
        ("LoRA", "Low-rank adapters.", "LoRA\n\nLow-rank adapters."),
        (None, "A note.", "A note."),
        ("Only a name", None, "Only a name"),
        ("Only a name", "", "Only a name"),
        ("  ", "\n", ""),
        (None, None, ""),
        ("", " kept as it is ", " kept as it is "),
    ],
)
def test_the_text_of_a_record_is_its_name_and_its_body(title: str | None, body: str | None, text: str) -> None:
    """Parts that are blank are left out; a record without any text has the empty one."""
    assert embedding_text(title, body) == text


# bounding


@settings(derandomize=True, max_examples=200)
@given(TEXTS, st.integers(0, 300))
@example("é" * 10, 5)
@example("a漢", 3)
def test_a_bounded_text_is_the_longest_beginning_that_fits(text: str, bytes_max: int) -> None:
    """It ends with a whole character, the next character would be too much, and the rest is counted to the byte."""
    kept, discarded = bounded(text, bytes_max)
    assert text.startswith(kept)
    assert len(kept.encode()) <= bytes_max
    assert len(kept.encode()) + discarded == len(text.encode())
    if discarded:
        assert len(text[: len(kept) + 1].encode()) > bytes_max


@pytest.mark.parametrize("embedder", [HashedEmbedder(), MINILM], ids=lambda embedder: embedder.name)
@settings(derandomize=True, max_examples=60, deadline=None)
@given(text=LONG)
@example(text="x" * 20_000)
@example(text="漢字" * 9_000)
@example(text=("a" * 99 + "́" * 9 + " ") * 300)
@example(text="\t" * 10_000 + "end")
def test_preparing_twice_is_preparing_once(embedder: HashedEmbedder | MiniLmEmbedder, text: str) -> None:
    """What was bounded fits, so that what the model sees is what the warning says."""
    kept, discarded = embedder.prepare(text)
    assert text.startswith(kept)
    assert len(kept.encode()) + discarded == len(text.encode())
    assert embedder.prepare(kept) == Prepared(kept, 0)


def test_minilm_takes_as_many_tokens_as_the_model_does() -> None:
    """254 words of one token each fit; of 300, the last 46 with the blanks before them are left out."""
    words = ["memory"] * OWN_TOKENS
    assert MINILM.prepare(" ".join(words)) == Prepared(" ".join(words), 0)
    assert MINILM.prepare(" ".join(["memory"] * 300)) == Prepared(" ".join(words), 46 * len(" memory"))


def test_a_short_text_is_not_looked_at() -> None:
    """A text of no more bytes than tokens fit needs no tokenizer: none is loaded."""
    fresh = MiniLmEmbedder(threads=1)
    assert fresh.prepare("e" * OWN_TOKENS) == Prepared("e" * OWN_TOKENS, 0)
    assert fresh.is_ready(OWN_TOKENS)
    assert not fresh.is_ready(OWN_TOKENS + 1)
    fresh.make_ready(OWN_TOKENS + 1)
    assert fresh.is_ready(10**9)


def test_no_character_has_more_tokens_than_bytes() -> None:
    """What the quick way relies on, for every character that the tokenizer may take apart; any other is one token."""
    tokenizer = MINILM._tokens()
    taken_apart = [
        character
        for code in range(sys.maxunicode + 1)
        if not 0xD800 <= code < 0xE000 and len(unicodedata.normalize("NFD", character := chr(code)).lower()) > 1
    ]
    assert len(taken_apart) > 11_000
    found = tokenizer.encode_batch(taken_apart, add_special_tokens=False)
    assert all(len(one.ids) <= len(character.encode()) for one, character in zip(found, taken_apart, strict=True))


# vectors


@settings(derandomize=True, max_examples=100, deadline=None)
@given(TEXTS)
@example("")
@example("!?")
def test_a_hashed_vector_has_length_one(text: str) -> None:
    """Whatever the text, also one without a word."""
    (vector,) = HashedEmbedder().embed([text])
    assert len(vector) == EMBEDDING_HASHED_DIMS * 4
    assert math.isclose(math.fsum(number * number for number in numbers(vector)), 1.0, abs_tol=1e-5)


def test_a_hashed_vector_is_the_same_everywhere() -> None:
    """The bytes are pinned: another version of them has to be another revision."""
    (vector,) = HashedEmbedder().embed(["Rotary position embedding"])
    assert hashlib.sha256(vector).hexdigest()[:16] == "60264af3aa777ee9"
    assert HashedEmbedder.revision == "1"


def test_hashed_texts_are_similar_when_they_share_words() -> None:
    """Case and punctuation do not count, parts of words do, and a text is most similar to itself."""
    same, alike, part, other = HashedEmbedder().embed(
        ["Rotary position embedding", "EMBEDDING, rotary position!", "positional rotation", "green apples"]
    )
    assert similarity(same, alike) == pytest.approx(1.0, abs=1e-6)
    assert 0.8 > similarity(same, part) > similarity(same, other)


def test_minilm_knows_what_texts_mean() -> None:
    """Two sentences without a common word are similar, a third is not; the vectors are those of the model, pinned."""
    cat, feline, market = MINILM.embed(["a cat sits on the mat", "some feline rests upon rugs", "stock markets fell"])
    assert len(cat) == 384 * 4
    assert math.isclose(similarity(cat, cat), 1.0, abs_tol=1e-5)
    assert similarity(cat, feline) > 0.45
    assert similarity(cat, market) < 0.15


def test_minilm_makes_the_same_vector_alone_and_among_others() -> None:
    """Padding is masked: the texts of a batch do not change each other, and their order is kept."""
    texts = ["short", "a text of some more words than the first one has", "x " * 250]
    together = MINILM.embed(texts)
    for text, vector in zip(texts, together, strict=True):
        (alone,) = MINILM.embed([text])
        assert similarity(alone, vector) > 0.995
    assert MINILM.embed([]) == []


def test_a_vector_without_direction_is_none() -> None:
    """Zero, infinite and undefined numbers have no vector of length one."""
    for wrong in ([0.0, 0.0], [math.inf], [math.nan, 1.0], []):
        with pytest.raises(ValueError, match="zero, or not finite"):
            unit_vector(wrong)
    assert numbers(unit_vector([3.0, -4.0])) == pytest.approx([0.6, -0.8])


def test_another_model_file_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The digest is checked before the first use; the refusal names the file and what repairs it."""
    package = tmp_path / "other_model"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / minilm.MODEL_FILE).write_bytes(b"not the model")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(minilm, "MODEL_PACKAGE", "other_model")
    with pytest.raises(EmbedderUnavailable, match=r"is not the model that is known \(its sha256 differs\)"):
        MiniLmEmbedder(threads=1).embed(["text"])


# which are registered


def test_the_settings_say_which_embedders_there_are() -> None:
    """Their order is kept, a name counts once, and the first one is the default."""
    found = load_embedders(Settings(embedding_models=("hashed", "minilm", "hashed")))
    assert (found.names, len(found), found.absent) == (("hashed", "minilm"), 2, {})
    assert found.default is found.get("hashed")
    assert [embedder.name for embedder in found] == ["hashed", "minilm"]
    assert found.get("minilm").revision == f"all-MiniLM-L6-v2-int8-{MODEL_SHA256[:12]}-256"


@pytest.mark.parametrize("models", [(), ("none",)])
def test_there_may_be_no_embedder(models: tuple[str, ...]) -> None:
    """Then nothing is registered, there is no default, and a name is refused with what to set."""
    found = load_embedders(Settings(embedding_models=models))
    assert (found.names, found.default, bool(found)) == ((), None, False)
    with pytest.raises(InvalidInput, match=r"'minilm' is not registered; registered: none, .*embedding\.models"):
        found.get("minilm")


def test_none_stands_alone() -> None:
    """Beside another name it is a contradiction."""
    with pytest.raises(InvalidInput, match=r"embedding\.models: 'none' stands alone, not beside hashed"):
        load_embedders(Settings(embedding_models=("hashed", "none")))


def test_a_name_that_is_not_registered_is_refused_with_those_that_are() -> None:
    """The message lists them."""
    found = Embedders([HashedEmbedder()])
    with pytest.raises(InvalidInput, match=r"^embedding model 'ada' is not registered; registered: hashed$"):
        found.get("ada")


def test_an_uninstalled_minilm_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing fails; the reason says what is missing and how to install it."""
    monkeypatch.setattr(minilm, "_NEEDED", ("numpy", "no_such_package"))
    found = load_embedders(Settings(embedding_models=("minilm", "hashed")))
    assert found.names == ("hashed",)
    reason = "minilm is not installed (no_such_package missing); pip install '.[embed]' in the checkout installs it"
    assert found.absent == {"minilm": reason}


def test_an_embedder_that_cannot_bound_a_text_is_taken_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A write goes on without it; the reason is kept."""

    def broken() -> None:
        raise EmbedderUnavailable("minilm: the tokenizer cannot be loaded (OSError)")

    monkeypatch.setattr(minilm, "_load_tokenizer", broken)
    found = Embedders([MiniLmEmbedder(threads=1), HashedEmbedder()])
    assert found.is_ready(lambda: OWN_TOKENS)
    assert not found.is_ready(lambda: OWN_TOKENS + 1)
    found.make_ready(OWN_TOKENS + 1)
    assert found.names == ("hashed",)
    assert found.absent == {"minilm": "minilm: the tokenizer cannot be loaded (OSError)"}


def test_the_vector_of_a_query_is_made_once() -> None:
    """The latest queries are kept, and the one that was not asked for longest makes way."""
    embedder = Counted()
    found = Embedders([embedder])
    first = found.query_vector("hashed", "query 0")
    for number in range(EMBEDDING_QUERY_VECTORS_KEPT):
        assert found.query_vector("hashed", "query 0") == first
        found.query_vector("hashed", f"query {number}")
    assert len(embedder.asked) == EMBEDDING_QUERY_VECTORS_KEPT
    found.query_vector("hashed", "one more")
    found.query_vector("hashed", "query 1")
    assert embedder.asked[EMBEDDING_QUERY_VECTORS_KEPT:] == ["one more", "query 1"]
    assert found.query_vector("hashed", "q" * (EMBEDDING_HASHED_BYTES_MAX + 1)) != first


def test_nothing_heavy_is_imported_before_a_text_needs_it() -> None:
    """Registering every embedder and bounding a short text import no model library and no client of HTTP."""
    program = (
        "import sys; from hivekeep.search.embedders import load_embedders; "
        "from hivekeep_contract.settings import Settings; "
        "found = load_embedders(Settings(embedding_models=('minilm', 'hashed'))); "
        "found.get('minilm').prepare('short'); "
        "print(sorted({'numpy', 'onnxruntime', 'tokenizers', 'http.client', 'ssl'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
