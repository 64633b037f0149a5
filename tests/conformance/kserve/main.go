// Command kserve merges rendered services with the presets KServe ships, by KServe's own code: admission, the strategic merge,
// the Go templating of the merged configuration, and admission of the result.
//
// Standard input: {"<id>": [objects of one replica]}. Argument: the folder of the presets. Standard output: {"<id>": {"error",
// "merged": spec}}.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/kserve/kserve/pkg/apis/serving/v1alpha2"
	"github.com/kserve/kserve/pkg/controller/v1alpha2/llmisvc"
)

type answer struct {
	Error  string                            `json:"error,omitempty"`
	Merged *v1alpha2.LLMInferenceServiceSpec `json:"merged,omitempty"`
}

type configs map[string]*v1alpha2.LLMInferenceServiceConfig

func main() {
	var questions map[string][]json.RawMessage
	if err := json.NewDecoder(os.Stdin).Decode(&questions); err != nil {
		fmt.Fprintln(os.Stderr, "standard input:", err)
		os.Exit(2)
	}
	answers := map[string]answer{}
	for id, objects := range questions {
		merged, err := merge(os.Args[1], objects)
		if err != nil {
			answers[id] = answer{Error: err.Error()}
		} else {
			answers[id] = answer{Merged: merged}
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(answers); err != nil {
		fmt.Fprintln(os.Stderr, "standard output:", err)
		os.Exit(2)
	}
}

func merge(presets string, objects []json.RawMessage) (*v1alpha2.LLMInferenceServiceSpec, error) {
	service, own, err := decode(objects)
	if err != nil {
		return nil, err
	}
	ctx, validator := context.Background(), &v1alpha2.LLMInferenceServiceValidator{}
	if _, err := validator.ValidateCreate(ctx, service); err != nil {
		return nil, fmt.Errorf("admission: %w", err)
	}
	if service.Spec.Model.Name == nil { // as the defaulting webhook does
		service.Spec.Model.Name = &service.Name
	}
	var specs []v1alpha2.LLMInferenceServiceSpec
	for _, name := range wanted(&service.Spec) {
		config, err := find(presets, own, name)
		if err != nil {
			return nil, err
		}
		specs = append(specs, config.Spec)
	}
	spec, err := llmisvc.MergeSpecs(ctx, append(specs, service.Spec)...)
	if err != nil {
		return nil, fmt.Errorf("merge: %w", err)
	}
	merged := &v1alpha2.LLMInferenceServiceConfig{ObjectMeta: *service.ObjectMeta.DeepCopy(), Spec: spec}
	global := &llmisvc.Config{SystemNamespace: "kserve", IngressGatewayName: "gateway", IngressGatewayNamespace: "kserve"}
	if merged, err = llmisvc.ReplaceVariables(service, merged, global); err != nil {
		return nil, fmt.Errorf("templating: %w", err)
	}
	if router := merged.Spec.Router; router != nil && router.Route != nil && router.Route.HTTP.HasSpec() && router.Gateway.HasRefs() {
		router.Route.HTTP.Spec.ParentRefs = llmisvc.ToParentRefs(router.Gateway.Refs)
	}
	result := &v1alpha2.LLMInferenceService{
		ObjectMeta: metav1.ObjectMeta{Name: service.Name, Namespace: service.Namespace},
		Spec:       merged.Spec,
	}
	if _, err := validator.ValidateCreate(ctx, result); err != nil {
		return nil, fmt.Errorf("admission of the merged service: %w", err)
	}
	return &merged.Spec, nil
}

// decode reads the objects strictly: a field KServe does not know is an error.
func decode(objects []json.RawMessage) (*v1alpha2.LLMInferenceService, configs, error) {
	var service *v1alpha2.LLMInferenceService
	own := configs{}
	for _, object := range objects {
		var about metav1.TypeMeta
		if err := json.Unmarshal(object, &about); err != nil {
			return nil, nil, err
		}
		switch about.Kind {
		case "LLMInferenceService":
			service = &v1alpha2.LLMInferenceService{}
			if err := yaml.UnmarshalStrict(object, service); err != nil {
				return nil, nil, fmt.Errorf("strict decoding: %w", err)
			}
		case "LLMInferenceServiceConfig":
			config := &v1alpha2.LLMInferenceServiceConfig{}
			if err := yaml.UnmarshalStrict(object, config); err != nil {
				return nil, nil, fmt.Errorf("strict decoding: %w", err)
			}
			own[config.Name] = config
		}
	}
	if service == nil {
		return nil, nil, fmt.Errorf("no LLMInferenceService among the objects")
	}
	return service, own, nil
}

// wanted names the presets of a service, without the prefix "kserve-", in the order in which they are merged.
func wanted(spec *v1alpha2.LLMInferenceServiceSpec) []string {
	var names []string
	if spec.Router != nil && spec.Router.Scheduler != nil {
		names = append(names, "config-llm-scheduler")
	}
	if spec.Router != nil && spec.Router.Route != nil {
		names = append(names, "config-llm-router-route")
	}
	if spec.Prefill == nil {
		return append(names, preset("", &spec.WorkloadSpec))
	}
	return append(names, preset("prefill-", spec.Prefill), preset("decode-", &spec.WorkloadSpec))
}

func preset(role string, workload *v1alpha2.WorkloadSpec) string {
	switch {
	case workload.Worker == nil:
		return "config-llm-" + role + "template"
	case workload.Parallelism.IsDataParallel():
		return "config-llm-" + role + "worker-data-parallel"
	default:
		return "config-llm-" + role + "worker-pipeline-parallel"
	}
}

// find looks in the service's own namespace first, then among the shipped presets.
func find(presets string, own configs, name string) (*v1alpha2.LLMInferenceServiceConfig, error) {
	if config, ok := own["kserve-"+name]; ok {
		return config, nil
	}
	text, err := os.ReadFile(filepath.Join(presets, name+".yaml"))
	if err != nil {
		return nil, fmt.Errorf("ConfigNotFound: %s", name)
	}
	config := &v1alpha2.LLMInferenceServiceConfig{}
	return config, yaml.UnmarshalStrict(text, config)
}
