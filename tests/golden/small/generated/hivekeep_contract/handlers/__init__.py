"""Protocols that packs implement, one module a pack.

Printed from registry/packs/ by `make generate`; do not edit.
"""
