"""Packing of pods on equal nodes: exact, in any order of arrival, or "undecided".

Nothing here knows a cluster or a deployment.
"""
