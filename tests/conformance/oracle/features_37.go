//go:build from37

package main

import (
	"errors"

	"k8s.io/dynamic-resource-allocation/structured"
)

// features returns the feature gates that are on by default in Kubernetes 1.37.
func features() structured.Features {
	return structured.Features{
		AdminAccess: true, PrioritizedList: true,
		ConsumableCapacity: true, DeviceBindingAndStatus: true, DeviceTaints: true, PartitionableDevices: true,
		FractionalCapacityRange: true,
	}
}

// endsOnNode returns whether an error means this node alone.
func endsOnNode(err error) bool {
	return errors.Is(err, structured.ErrFailedAllocationOnNode)
}

// withLists returns the features with attributes that are lists.
func withLists(enabled structured.Features) structured.Features {
	enabled.ListTypeAttributes = true
	return enabled
}
