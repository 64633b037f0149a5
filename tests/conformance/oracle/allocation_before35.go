//go:build before35

package main

// allocation answers nothing: the allocator of 1.34 treats pools that are not whole in another way, and has no words of its own
// for a node that does not suit.
func allocation([]byte) map[string]any {
	return map[string]any{"panic": "allocations are not compared before Kubernetes 1.35"}
}
