// Command gitops answers as the programs do that read examples/gitops and examples/ci: kustomize, the health checks of
// Argo CD and of Flux, and actionlint.
//
//	gitops build DIR            the objects that kustomize makes of a folder, as YAML
//	gitops argocd SETTINGS      the health of each object of standard input, by the data of a ConfigMap argocd-cm
//	gitops flux KUSTOMIZATION   the same by the expressions of a Kustomization
//	gitops workflow FILE        the findings of actionlint
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/runtime/cel"
	"github.com/rhysd/actionlint"
	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"
	luajson "layeh.com/gopher-json"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// Answer is the health of one object. Error is set when the check itself fails.
type Answer struct {
	Status  string `json:"status"`
	Message string `json:"message,omitempty"`
	Error   string `json:"error,omitempty"`
}

func main() {
	if len(os.Args) != 3 {
		fail(fmt.Errorf("give a mode and a path"))
	}
	mode, path := os.Args[1], os.Args[2]
	switch mode {
	case "build":
		found, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), path)
		fail(err)
		text, err := found.AsYaml()
		fail(err)
		_, err = os.Stdout.Write(text)
		fail(err)
	case "argocd":
		var settings struct {
			Data map[string]string `json:"data"`
		}
		read(path, &settings)
		for key := range settings.Data {
			if said := validation.IsConfigMapKey(key); len(said) > 0 {
				fail(fmt.Errorf("%s: %s", key, strings.Join(said, "; ")))
			}
		}
		answer(func(object *unstructured.Unstructured) Answer { return argocd(settings.Data, object) })
	case "flux":
		var given kustomizev1.Kustomization
		read(path, &given)
		checks := map[string]*cel.StatusEvaluator{}
		for _, one := range given.Spec.HealthCheckExprs {
			check, err := cel.NewStatusEvaluator(&one.HealthCheckExpressions)
			fail(err)
			checks[one.APIVersion+"/"+one.Kind] = check
		}
		answer(func(object *unstructured.Unstructured) Answer { return flux(checks, object) })
	case "workflow":
		linter, err := actionlint.NewLinter(os.Stdout, &actionlint.LinterOptions{})
		fail(err)
		found, err := linter.LintFile(path, nil)
		fail(err)
		if len(found) > 0 {
			os.Exit(1)
		}
	default:
		fail(fmt.Errorf("no mode is named %s", mode))
	}
}

func read(path string, into any) {
	text, err := os.ReadFile(path)
	fail(err)
	fail(yaml.UnmarshalStrict(text, into, yaml.DisallowUnknownFields))
}

// answer writes what judge says of each object of the list on standard input.
func answer(judge func(*unstructured.Unstructured) Answer) {
	var objects []map[string]any
	fail(json.NewDecoder(os.Stdin).Decode(&objects))
	answers := []Answer{}
	for _, object := range objects {
		text, err := json.Marshal(object)
		fail(err)
		parsed := &unstructured.Unstructured{}
		fail(parsed.UnmarshalJSON(text))
		answers = append(answers, judge(parsed))
	}
	fail(json.NewEncoder(os.Stdout).Encode(answers))
}

func flux(checks map[string]*cel.StatusEvaluator, object *unstructured.Unstructured) Answer {
	check, known := checks[object.GetAPIVersion()+"/"+object.GetKind()]
	if !known {
		return Answer{Error: "no expressions"}
	}
	found, err := check.Evaluate(context.Background(), object)
	if err != nil {
		return Answer{Error: err.Error()}
	}
	return Answer{Status: string(found.Status), Message: found.Message}
}

// argocd runs the script of an object as Argo CD does: the same interpreter with the libraries it opens, one second.
//
// Source: util/lua/lua.go and util/settings/settings.go of github.com/argoproj/argo-cd/v3 v3.6.1. The module itself has
// 1,413 packages to compile, so its few lines around the interpreter are here. Its reduced library os is left out: a
// script that needs it fails.
func argocd(settings map[string]string, object *unstructured.Unstructured) Answer {
	kind := object.GroupVersionKind()
	script, known := settings["resource.customizations.health."+kind.Group+"_"+kind.Kind]
	if !known {
		return Answer{Error: "no script"}
	}
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	for _, library := range []struct {
		name string
		open lua.LGFunction
	}{
		{lua.LoadLibName, lua.OpenPackage},
		{lua.BaseLibName, lua.OpenBase},
		{lua.TabLibName, lua.OpenTable},
	} {
		fail(state.CallByParam(lua.P{Fn: state.NewFunction(library.open), Protect: true}, lua.LString(library.name)))
	}
	limit, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	state.SetContext(limit)
	state.SetGlobal("obj", value(state, object.Object))
	if err := state.DoString(script); err != nil {
		return Answer{Error: err.Error()}
	}
	text, err := luajson.Encode(state.Get(-1))
	if err != nil {
		return Answer{Error: err.Error()}
	}
	var found Answer
	if err := json.Unmarshal(text, &found); err != nil {
		return Answer{Error: err.Error()}
	}
	switch found.Status {
	case "Unknown", "Progressing", "Suspended", "Healthy", "Degraded", "Missing":
		return found
	}
	return Answer{Error: "Lua returned an invalid health status"}
}

func value(state *lua.LState, given any) lua.LValue {
	switch given := given.(type) {
	case bool:
		return lua.LBool(given)
	case float64:
		return lua.LNumber(given)
	case int64:
		return lua.LNumber(given)
	case string:
		return lua.LString(given)
	case []any:
		list := state.CreateTable(len(given), 0)
		for _, item := range given {
			list.Append(value(state, item))
		}
		return list
	case map[string]any:
		table := state.CreateTable(0, len(given))
		for key, item := range given {
			table.RawSetH(lua.LString(key), value(state, item))
		}
		return table
	}
	return lua.LNil
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}
