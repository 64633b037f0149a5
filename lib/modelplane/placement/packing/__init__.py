"""Packing of pods on equal nodes. The answer is exact, also for any order of arrival, or "undecided".

The package knows neither clusters nor deployments.
"""
