"""What `.ci/run` runs, in which order and for how long: a table of suites, a choice among them, and a clock."""
