"""The real programs and definitions that conformance is tested against: pinned here, built once, kept in a cache.

`python -m tests.conformance.tools [name...]` builds them and says what is missing and why.
"""
