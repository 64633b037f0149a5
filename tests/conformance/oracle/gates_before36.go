//go:build before36

package main

import dracel "k8s.io/dynamic-resource-allocation/cel"

// gatesOfSelectors returns what selectors may use beyond the defaults: consumable capacity. Before 1.36 no attribute is a list,
// so a question that asks for them is not one for these versions.
func gatesOfSelectors(consumable, lists bool) dracel.Features {
	if lists {
		panic("attributes that are lists came with Kubernetes 1.36")
	}
	return dracel.Features{EnableConsumableCapacity: consumable}
}
