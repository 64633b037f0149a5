"""The Common Expression Language of Kubernetes: a parser, a checker, an evaluator, and its costs.

The package knows no device and nothing of `modelplane`. It must never give an answer that Kubernetes' own code would
not give. Source: cel-go v0.26.0 and k8s.io/apiserver v0.36.2, which tests/conformance/oracle runs beside it.
"""
