// Command stack renders charts with Helm's own code, as `helm template --include-crds` does.
//
// Standard input: a list of questions. Standard output: for each the rendered files, the definitions in crds/, or the error.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
)

type question struct {
	Folder    string         `json:"folder"`
	Release   string         `json:"release"`
	Namespace string         `json:"namespace"`
	Values    map[string]any `json:"values"`
	APIs      []string       `json:"apis"`
	Version   string         `json:"version"`
}

type answer struct {
	Files       map[string]string `json:"files"`
	Definitions map[string]string `json:"definitions"`
	Error       string            `json:"error"`
}

func rendered(asked question) answer {
	chart, err := loader.Load(asked.Folder)
	if err != nil {
		return answer{Error: err.Error()}
	}
	if asked.Version != "" {
		chart.Metadata.Version, chart.Metadata.AppVersion = asked.Version, asked.Version
	}
	if err := chartutil.ProcessDependencies(chart, asked.Values); err != nil {
		return answer{Error: err.Error()}
	}
	capabilities := chartutil.DefaultCapabilities.Copy()
	capabilities.KubeVersion = chartutil.KubeVersion{Version: "v1.36.3", Major: "1", Minor: "36"}
	capabilities.APIVersions = append(capabilities.APIVersions, asked.APIs...)
	options := chartutil.ReleaseOptions{Name: asked.Release, Namespace: asked.Namespace, Revision: 1, IsInstall: true}
	values, err := chartutil.ToRenderValuesWithSchemaValidation(chart, asked.Values, options, capabilities, false)
	if err != nil {
		return answer{Error: err.Error()}
	}
	files, err := engine.Render(chart, values)
	if err != nil {
		return answer{Error: err.Error()}
	}
	definitions := map[string]string{}
	for _, one := range chart.CRDObjects() {
		definitions[one.Filename] = string(one.File.Data)
	}
	return answer{Files: files, Definitions: definitions}
}

func main() {
	var asked []question
	if err := json.NewDecoder(os.Stdin).Decode(&asked); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	answers := make([]answer, len(asked))
	for index, one := range asked {
		answers[index] = rendered(one)
	}
	if err := json.NewEncoder(os.Stdout).Encode(answers); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
