"""The Common Expression Language as Kubernetes speaks it: parse, check, estimate, evaluate, and count the cost.

Nothing here knows a device or `modelplane`. What may never happen here: an answer that Kubernetes' own code would not
give. Source: cel-go v0.26.0 and k8s.io/apiserver v0.36.2, which tests/conformance/oracle asks.
"""
