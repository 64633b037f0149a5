"""Scheduling of one deployment: filter, assign, rank, retain, fill and move.

The messages about a whole fleet belong to the diagnosis, which reads the board.
"""
