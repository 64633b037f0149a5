"""Which clusters run a deployment's replicas, and why not: pure functions from a snapshot to a plan.

Entry points: `scheduler.schedule` (a deployment proposes), `admission.admit` (a cluster decides), `explain` (why).
The composition functions and the command call the same ones, so what is explained is what happens.

Never here: a clock, a random number, a log line, a network call, a manifest, an answer that depends on the order of
its inputs.
"""
