"""Our routing objects through Envoy Gateway's own translator and a real Envoy, to real servers."""
