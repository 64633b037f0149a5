"""Workers of a role as objects of Kubernetes itself: a Deployment, or a LeaderWorkerSet where a worker spans nodes.

The backends whose pods no operator creates share it. Two things may never happen here: a count that somebody else may
change (the ledger counts every worker), and pods that use more devices than were promised while they are replaced.

Source: Kubernetes v1.36 (apps/v1), LeaderWorkerSet v0.8.0 to v0.10.0 (leaderworkerset.x-k8s.io/v1).
"""
