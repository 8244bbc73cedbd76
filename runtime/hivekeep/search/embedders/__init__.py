"""Embedders: from a text to a vector.

Invariant: importing this package, and asking what is registered, loads no model and none of the libraries that a model
needs; they are loaded when the first text has to be looked at. A text is bounded once, by `prepare`, so what an answer
says about cut text and what the model later sees are the same.
"""

from hivekeep.search.embedders.protocol import Embedder, InputRefused, Prepared
from hivekeep.search.embedders.registered import Embedders, load_embedders
from hivekeep_contract.errors import EmbedderUnavailable

__all__ = ["Embedder", "EmbedderUnavailable", "Embedders", "InputRefused", "Prepared", "load_embedders"]
