"""The request language and the answer's shape: text in, plan out; result in, presented answer out.

Everything here is pure (no storage, no clock, no network); only `save` touches the file system.
Depends on `hivekeep_contract` alone. Import the module you need: this package loads nothing by itself.
"""
