"""Scheduling of one deployment: filter, assign, rank, retain, fill and move.

Nothing here puts a refusal into words for a whole fleet; that is the diagnosis's part, which reads the board.
"""
