"""Placement against kube-scheduler: what we place is bound where we said, what we refuse stays unschedulable."""
