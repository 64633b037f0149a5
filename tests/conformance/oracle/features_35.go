//go:build before36 && !before35

package main

import (
	"errors"

	"k8s.io/dynamic-resource-allocation/structured"
)

// features returns the feature gates that are on by default in Kubernetes 1.35.
func features() structured.Features {
	return structured.Features{AdminAccess: true, PrioritizedList: true}
}

// endsOnNode returns whether an error means this node alone.
func endsOnNode(err error) bool {
	return errors.Is(err, structured.ErrFailedAllocationOnNode)
}

// withLists returns the features as they are: this version has no attributes that are lists.
func withLists(enabled structured.Features) structured.Features {
	return enabled
}
