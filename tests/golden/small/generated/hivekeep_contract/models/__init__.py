"""Types of every pack.

Printed from registry/ by `make generate`; do not edit.
"""
