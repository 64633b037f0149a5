"""The whole story on one machine: a control plane and two workload clusters, every component the real one.

Two things stand in for what needs a data centre: kwok for kubelets (pods run as far as their status goes), and
`gateways.py` for what a Gateway controller reports (addresses and conditions; routes are proven with a real Envoy in
tests/conformance/routing).
"""
