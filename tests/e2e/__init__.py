"""The whole story on one machine: a control plane and two workload clusters, every component the real one.

What stands in for a data centre: kwok for kubelets (pods run as far as their status goes), and `gateways.py` for a
cloud's load balancers and for the Gateway controllers of the workload clusters. Envoy Gateway's own runs on the control
plane; its ports are fixed, so there is one per machine. Traffic through a real Envoy is in tests/conformance/routing.
"""
