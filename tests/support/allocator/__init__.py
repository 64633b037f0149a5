"""The allocator of Kubernetes inside one node, result for result: the reference that tests hold our own matching to.

No program needs it. It agrees with `k8s.io/dynamic-resource-allocation` on every recorded and every random question
(`tests/conformance/oracle`), and answers in tests that cannot wait for a compiler.
"""
