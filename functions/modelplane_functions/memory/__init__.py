"""The memory of the function server between calls. Each part has a bound, and no answer depends on it.

`resources` are the resources of requests by their bytes, with what was decoded from each. `fragments` are equal parts
of resources. `structs` are serialized answers by their plain data. Each other cache belongs to one function
(`kubecel.caches`).
"""
