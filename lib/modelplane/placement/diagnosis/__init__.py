"""Diagnosis: why a replica has no place, and what would give it one. Nothing here places a replica."""
