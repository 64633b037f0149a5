// Command allocator answers, with Kubernetes' own code, which devices of one node serve the requests of one claim.
//
// It reads one question per line from standard input and writes one answer per line to standard output, both JSON. It is the
// only thing the conformance tests compare our matching with; nothing of the product uses it.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sort"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	dracel "k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
	"k8s.io/utils/ptr"
)

const (
	node   = "node"
	marker = "modelplane.ai/class"
)

// kind is one kind of device of the node: count equal devices that a DeviceClass of the name class selects.
type kind struct {
	Name       string                                                    `json:"name"`
	Driver     string                                                    `json:"driver"`
	Class      string                                                    `json:"class"`
	Count      int                                                       `json:"count"`
	Attributes map[resourceapi.QualifiedName]resourceapi.DeviceAttribute `json:"attributes"`
	Capacity   map[resourceapi.QualifiedName]resourceapi.DeviceCapacity  `json:"capacity"`
}

type request struct {
	Name      string   `json:"name"`
	Class     string   `json:"class"`
	Count     int64    `json:"count"`
	Selectors []string `json:"selectors"`
}

type question struct {
	Kinds       []kind                         `json:"kinds"`
	Requests    []request                      `json:"requests"`
	Constraints []resourceapi.DeviceConstraint `json:"constraints"`
}

func main() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(make([]byte, 1<<20), 1<<24)
	out := json.NewEncoder(os.Stdout)
	for in.Scan() {
		var asked question
		if err := json.Unmarshal(in.Bytes(), &asked); err != nil {
			fmt.Fprintln(os.Stderr, "bad question:", err)
			os.Exit(2)
		}
		if err := out.Encode(answer(asked)); err != nil {
			fmt.Fprintln(os.Stderr, "cannot answer:", err)
			os.Exit(2)
		}
	}
}

// answer is {"result": "allocated", "picks": {request: [kind, ...]}}, {"result": "none"} or {"result": "abort", "error": ...}.
func answer(asked question) map[string]any {
	ctx := context.Background()
	features := structured.Features{
		AdminAccess: true, ConsumableCapacity: true, DeviceBindingAndStatus: true,
		DeviceTaints: true, PartitionableDevices: true, PrioritizedList: true,
	}
	cache := dracel.NewCache(1000, dracel.Features{EnableConsumableCapacity: true})
	state := structured.AllocatedState{
		AllocatedDevices:         sets.New[structured.DeviceID](),
		AllocatedSharedDeviceIDs: sets.New[structured.SharedDeviceID](),
		AggregatedCapacity:       structured.NewConsumedCapacityCollection(),
	}
	allocator, err := structured.NewAllocator(ctx, features, state, classes(asked.Kinds), slices(asked.Kinds), cache)
	if err != nil {
		return map[string]any{"result": "abort", "error": err.Error()}
	}
	there := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}}
	results, err := allocator.Allocate(ctx, there, []*resourceapi.ResourceClaim{claim(asked)})
	switch {
	case errors.Is(err, structured.ErrFailedAllocationOnNode):
		return map[string]any{"result": "none", "error": err.Error()}
	case err != nil:
		return map[string]any{"result": "abort", "error": err.Error()}
	case len(results) == 0:
		return map[string]any{"result": "none"}
	}
	picks := map[string][]string{}
	for _, result := range results[0].Devices.Results {
		name, _, _ := strings.Cut(result.Device, "--")
		picks[result.Request] = append(picks[result.Request], name)
	}
	return map[string]any{"result": "allocated", "picks": picks}
}

func claim(asked question) *resourceapi.ResourceClaim {
	spec := resourceapi.ResourceClaimSpec{Devices: resourceapi.DeviceClaim{Constraints: asked.Constraints}}
	for _, wanted := range asked.Requests {
		exact := &resourceapi.ExactDeviceRequest{
			DeviceClassName: wanted.Class,
			AllocationMode:  resourceapi.DeviceAllocationModeExactCount,
			Count:           wanted.Count,
		}
		for _, expression := range wanted.Selectors {
			exact.Selectors = append(exact.Selectors, selector(expression))
		}
		spec.Devices.Requests = append(spec.Devices.Requests, resourceapi.DeviceRequest{Name: wanted.Name, Exactly: exact})
	}
	return &resourceapi.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: "claim", Namespace: "ns", UID: "uid"}, Spec: spec}
}

func selector(expression string) resourceapi.DeviceSelector {
	return resourceapi.DeviceSelector{CEL: &resourceapi.CELDeviceSelector{Expression: expression}}
}

func slices(kinds []kind) []*resourceapi.ResourceSlice {
	byDriver := map[string][]resourceapi.Device{}
	for _, one := range kinds {
		attributes := map[resourceapi.QualifiedName]resourceapi.DeviceAttribute{marker: {StringValue: ptr.To(one.Class)}}
		for name, value := range one.Attributes {
			attributes[name] = value
		}
		for number := range one.Count {
			name := fmt.Sprintf("%s--%d", one.Name, number)
			device := resourceapi.Device{Name: name, Attributes: attributes, Capacity: one.Capacity}
			byDriver[one.Driver] = append(byDriver[one.Driver], device)
		}
	}
	var found []*resourceapi.ResourceSlice
	for driver, devices := range byDriver {
		found = append(found, &resourceapi.ResourceSlice{
			ObjectMeta: metav1.ObjectMeta{Name: driver},
			Spec: resourceapi.ResourceSliceSpec{
				Driver:   driver,
				Pool:     resourceapi.ResourcePool{Name: node, ResourceSliceCount: 1},
				NodeName: ptr.To(node),
				Devices:  devices,
			},
		})
	}
	sort.Slice(found, func(i, j int) bool { return found[i].Name < found[j].Name })
	return found
}

// lister serves one DeviceClass per class name; it selects the devices that carry the name.
type lister map[string]*resourceapi.DeviceClass

func classes(kinds []kind) lister {
	found := lister{}
	for _, one := range kinds {
		expression := fmt.Sprintf(`device.attributes["modelplane.ai"].class == %q`, one.Class)
		found[one.Class] = &resourceapi.DeviceClass{
			ObjectMeta: metav1.ObjectMeta{Name: one.Class},
			Spec:       resourceapi.DeviceClassSpec{Selectors: []resourceapi.DeviceSelector{selector(expression)}},
		}
	}
	return found
}

func (l lister) List() ([]*resourceapi.DeviceClass, error) {
	var all []*resourceapi.DeviceClass
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
