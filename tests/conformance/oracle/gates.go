//go:build !before36

package main

import dracel "k8s.io/dynamic-resource-allocation/cel"

// gatesOfSelectors returns what selectors may use beyond the defaults: consumable capacity, and attributes that are lists.
func gatesOfSelectors(consumable, lists bool) dracel.Features {
	return dracel.Features{EnableConsumableCapacity: consumable, EnableListTypeAttributes: lists}
}
