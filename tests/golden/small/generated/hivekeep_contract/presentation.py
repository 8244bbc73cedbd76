"""How results are reshaped for a reader: names of fields, by what is done to them.

Printed from registry/presentation.yaml by `make generate`; do not edit.
"""

#: Kept when null.
PRESERVE_NULL = frozenset({"deleted_at"})

#: Rounded.
SCORE_KEYS = frozenset({"score"})

#: Rounded below.
SCORE_PARENTS = frozenset({"breakdown"})

SCORE_SIGNIFICANT_FIGURES = 3

#: Shortened.
SHORT_ID_KEYS = frozenset({"replaced_by"})

SHORT_ID_LENGTH = 8

#: Never shortened.
FULL_ID_KEYS = frozenset({"full_id"})

#: Never relative.
UNTOUCHED_TIME_KEYS = frozenset({"due"})

OPAQUE_UNDER = frozenset({"properties"})

TABLE_CELL_MAX_CHARS = 20

TABLE_UNCUT_KEYS = frozenset({"id", "name"})

TABLE_UNCUT_SUFFIXES = ("_id", "_at")
