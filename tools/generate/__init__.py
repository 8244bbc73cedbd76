"""Print `generated/hivekeep_contract` from `registry/`: read, resolve, emit, write or compare.

Python computes, the templates only print. One run is a pure function of the two folders `registry/` and
`templates/` (and the guides that the published text includes): no clock, no machine path, sorted listings.
"""
