"""Numbers the server keeps.

Printed from registry/limits.yaml and the constants of registry/packs/ and registry/gateway/ by `make generate`; do not
edit.
"""

#: Operations in one request.
MAX_OPS = 100

#: Bytes of ops.
MAX_OPS_INPUT_BYTES = 1000

#: Depth of arguments.
NESTING_DEPTH_LIMIT = 8

#: Depth of results.
RESULT_DEPTH_LIMIT = 8

#: Bytes of a response.
RESPONSE_BUDGET_BYTES = 5000

#: Pairs of details.
ERROR_DETAILS_MAX = 3

#: Rows of a page.
LIST_CAP: dict[str, int] = {"note": 20, "todo": 50}

#: Notes of one answer.
NOTE_CAP = 20

#: UTF-16 units of a line.
LINE_UNITS = 20

#: Notes of one request.
NOTE_LIST_MAX = 3

#: Most points.
POINTS_MAX = 12.5
