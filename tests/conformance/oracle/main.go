// Command oracle answers, with Kubernetes' own code, what a selector says of a device, how quantities and versions behave, and
// which devices of a node a pod's claims get.
//
// It reads one question per line from standard input and writes one answer per line to standard output, both JSON. It is the
// only thing the conformance tests compare our engine with; nothing of the product uses it.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/blang/semver/v4"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apiserver/pkg/cel/environment"
	dracel "k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/utils/ptr"
)

type question struct {
	ID   string `json:"id"`
	Kind string `json:"kind"`

	// kind "selector"
	Expression     string          `json:"expression"`
	Driver         string          `json:"driver"`
	Device         json.RawMessage `json:"device"`
	ListAttributes bool            `json:"listAttributes"`

	// kinds "quantity" and "version"
	Left  string `json:"left"`
	Right string `json:"right"`
}

func main() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(make([]byte, 1<<20), 1<<24)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for in.Scan() {
		var asked question
		if err := json.Unmarshal(in.Bytes(), &asked); err != nil {
			fmt.Fprintln(os.Stderr, "bad question:", err)
			os.Exit(2)
		}
		if err := encoder.Encode(answer(asked, in.Bytes())); err != nil {
			fmt.Fprintln(os.Stderr, "cannot answer:", err)
			os.Exit(2)
		}
	}
}

func answer(asked question, raw []byte) (reply map[string]any) {
	defer func() {
		if fault := recover(); fault != nil {
			reply = map[string]any{"id": asked.ID, "panic": fmt.Sprint(fault)}
		}
	}()
	switch asked.Kind {
	case "quantity":
		reply = quantities(asked.Left, asked.Right)
	case "version":
		reply = versions(asked.Left, asked.Right)
	case "allocation":
		reply = allocation(raw)
	default:
		reply = selector(asked)
	}
	reply["id"] = asked.ID
	return reply
}

func selector(asked question) map[string]any {
	compiler := dracel.GetCompiler(gatesOfSelectors(true, asked.ListAttributes))
	stored := compiler.CompileCELExpression(asked.Expression, dracel.Options{EnvType: ptr.To(environment.StoredExpressions)})
	fresh := compiler.CompileCELExpression(asked.Expression, dracel.Options{EnvType: ptr.To(environment.NewExpressions)})
	reply := map[string]any{}
	accepts := fresh.Error == nil && fresh.MaxCost <= resourceapi.CELSelectorExpressionMaxCost &&
		len(asked.Expression) <= resourceapi.CELSelectorExpressionMaxLength
	reply["apiServerAccepts"] = accepts
	if stored.Error != nil {
		reply["result"] = "compile_error"
		reply["error"] = stored.Error.Detail
		return reply
	}
	reply["estimatedCost"] = stored.MaxCost
	device, err := deviceOf(asked)
	if err != nil {
		reply["panic"] = err.Error()
		return reply
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	matches, details, err := stored.DeviceMatches(ctx, device)
	if details != nil && details.ActualCost() != nil {
		reply["actualCost"] = *details.ActualCost()
	}
	switch {
	case err != nil:
		reply["result"] = "error"
		reply["error"] = err.Error()
	case matches:
		reply["result"] = "true"
	default:
		reply["result"] = "false"
	}
	return reply
}

func deviceOf(asked question) (dracel.Device, error) {
	var spec struct {
		AllowMultipleAllocations *bool                                                     `json:"allowMultipleAllocations"`
		Attributes               map[resourceapi.QualifiedName]resourceapi.DeviceAttribute `json:"attributes"`
		Capacity                 map[resourceapi.QualifiedName]resourceapi.DeviceCapacity  `json:"capacity"`
	}
	if len(asked.Device) > 0 {
		if err := json.Unmarshal(asked.Device, &spec); err != nil {
			return dracel.Device{}, err
		}
	}
	return dracel.Device{
		Driver:                   asked.Driver,
		AllowMultipleAllocations: spec.AllowMultipleAllocations,
		Attributes:               spec.Attributes,
		Capacity:                 spec.Capacity,
	}, nil
}

func quantities(left, right string) map[string]any {
	reply := map[string]any{}
	first, err := resource.ParseQuantity(left)
	if err != nil {
		reply["error"] = err.Error()
		return reply
	}
	describe := func(name string, quantity resource.Quantity) {
		value, whole := quantity.AsInt64()
		reply[name+"IsInteger"] = whole
		if whole {
			reply[name+"Integer"] = fmt.Sprint(value)
		}
		reply[name+"Sign"] = quantity.Sign()
		reply[name+"Float"] = fmt.Sprintf("%x", quantity.AsApproximateFloat64())
		reply[name+"Text"] = quantity.String()
	}
	describe("left", first.DeepCopy())
	second, err := resource.ParseQuantity(right)
	if err != nil {
		reply["rightError"] = err.Error()
		return reply
	}
	compared := first.DeepCopy()
	reply["order"] = compared.Cmp(second.DeepCopy())
	describe("compared", compared)
	sum := first.DeepCopy()
	sum.Add(second.DeepCopy())
	describe("sum", sum)
	difference := first.DeepCopy()
	difference.Sub(second.DeepCopy())
	describe("difference", difference)
	return reply
}

func versions(left, right string) map[string]any {
	reply := map[string]any{}
	first, err := semver.Parse(left)
	if err != nil {
		reply["error"] = err.Error()
		return reply
	}
	reply["text"] = first.String()
	second, err := semver.Parse(right)
	if err != nil {
		reply["rightError"] = err.Error()
		return reply
	}
	reply["order"] = first.Compare(second)
	return reply
}
