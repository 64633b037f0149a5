"""What is seen of the fleet: kube-state-metrics and Prometheus with our configuration, alerts and dashboard."""
