//go:build before35

package main

import (
	"k8s.io/dynamic-resource-allocation/structured"
)

// features returns the feature gates that are on by default in Kubernetes 1.34.
func features() structured.Features {
	return structured.Features{AdminAccess: true, PrioritizedList: true, DeviceStatus: true}
}

// endsOnNode returns whether an error means this node alone; this version has no such errors.
func endsOnNode(error) bool {
	return false
}

// withLists returns the features as they are: this version has no attributes that are lists.
func withLists(enabled structured.Features) structured.Features {
	return enabled
}
