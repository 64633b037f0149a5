package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	dracel "k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
	"k8s.io/utils/ptr"
)

// problem is a question of the kind "allocation": one node, what is published and held, and the claims of a pod.
type problem struct {
	Node      *corev1.Node                 `json:"node"`
	Slices    []*resourceapi.ResourceSlice `json:"slices"`
	Classes   []*resourceapi.DeviceClass   `json:"classes"`
	Claims    []*resourceapi.ResourceClaim `json:"claims"`
	Allocated held                         `json:"allocated"`
	// ListAttributes turns on the gate for attributes that are lists, in the versions that have it.
	ListAttributes bool `json:"listAttributes"`
}

// held names devices by driver, pool and device.
type held struct {
	Devices [][3]string `json:"devices"`
	Shared  []struct {
		Device   [3]string                                       `json:"device"`
		Consumed map[resourceapi.QualifiedName]resource.Quantity `json:"consumed"`
	} `json:"shared"`
}

func allocation(raw []byte) map[string]any {
	var asked problem
	if err := json.Unmarshal(raw, &asked); err != nil {
		return map[string]any{"panic": err.Error()}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	enabled := features()
	if asked.ListAttributes {
		enabled = withLists(enabled)
	}
	selectors := dracel.NewCache(1000, gatesOfSelectors(enabled.ConsumableCapacity, asked.ListAttributes))
	allocator, err := structured.NewAllocator(ctx, enabled, stateOf(asked.Allocated), listed(asked.Classes), asked.Slices, selectors)
	if err != nil {
		return map[string]any{"result": "abort", "error": err.Error()}
	}
	found, err := allocator.Allocate(ctx, asked.Node, asked.Claims)
	switch {
	case ctx.Err() != nil:
		return map[string]any{"panic": "no answer in time"}
	case endsOnNode(err):
		return map[string]any{"result": "none", "error": err.Error()}
	case err != nil:
		return map[string]any{"result": "abort", "error": err.Error()}
	case len(found) == 0 && len(asked.Claims) > 0:
		return map[string]any{"result": "none"}
	}
	for i := range found {
		for j := range found[i].Devices.Results {
			// A share id is random; that there is one is not.
			if found[i].Devices.Results[j].ShareID != nil {
				found[i].Devices.Results[j].ShareID = ptr.To(types.UID("shared"))
			}
		}
		found[i].Devices.Config = nil
	}
	return map[string]any{"result": "allocated", "claims": found}
}

func stateOf(asked held) structured.AllocatedState {
	state := structured.AllocatedState{
		AllocatedDevices:         sets.New[structured.DeviceID](),
		AllocatedSharedDeviceIDs: sets.New[structured.SharedDeviceID](),
		AggregatedCapacity:       structured.NewConsumedCapacityCollection(),
	}
	for _, one := range asked.Devices {
		state.AllocatedDevices.Insert(structured.MakeDeviceID(one[0], one[1], one[2]))
	}
	for number, use := range asked.Shared {
		id := structured.MakeDeviceID(use.Device[0], use.Device[1], use.Device[2])
		state.AllocatedSharedDeviceIDs.Insert(structured.MakeSharedDeviceID(id, ptr.To(types.UID(fmt.Sprint(number)))))
		state.AggregatedCapacity.Insert(structured.NewDeviceConsumedCapacity(id, use.Consumed))
	}
	return state
}

// lister serves DeviceClasses by name.
type lister map[string]*resourceapi.DeviceClass

func listed(classes []*resourceapi.DeviceClass) lister {
	found := lister{}
	for _, class := range classes {
		found[class.Name] = class
	}
	return found
}

func (l lister) List() ([]*resourceapi.DeviceClass, error) {
	all := make([]*resourceapi.DeviceClass, 0, len(l))
	for _, class := range l {
		all = append(all, class)
	}
	return all, nil
}

func (l lister) Get(name string) (*resourceapi.DeviceClass, error) {
	if class, known := l[name]; known {
		return class, nil
	}
	return nil, fmt.Errorf("no DeviceClass %s", name)
}
