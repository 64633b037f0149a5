// Command crd says what a real API server makes of our definitions and of documents.
//
// It derives the CustomResourceDefinition of each CompositeResourceDefinition with Crossplane's own code, validates it with the API
// server's own code (structural schema, CEL compilation and cost budgets), and runs documents through the steps of a create or
// update: prune, default, validate. Nothing here decides anything itself.
//
//	crd derive   BUNDLE            one JSON line per definition: kind, the derived CRD, errors
//	crd validate BUNDLE <LINES     one JSON line per line {id, document, old}: id, errors, unknown fields, the defaulted document
//
// BUNDLE is a JSON list of CompositeResourceDefinitions and CustomResourceDefinitions.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sort"

	"github.com/crossplane/crossplane-runtime/v2/pkg/xcrd"
	xpv1 "github.com/crossplane/crossplane/apis/v2/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	crdvalidation "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	structuralcel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	structuraldefaulting "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	structurallisttype "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	structuralpruning "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	apiservervalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

func main() {
	if len(os.Args) != 3 {
		fail(fmt.Errorf("usage: crd derive|validate BUNDLE"))
	}
	definitions, err := load(os.Args[2])
	if err != nil {
		fail(err)
	}
	out := json.NewEncoder(os.Stdout)
	switch os.Args[1] {
	case "derive":
		for _, d := range definitions {
			check(out.Encode(map[string]any{"kind": d.crd.Spec.Names.Kind, "crd": d.crd, "errors": d.errors()}))
		}
	case "validate":
		check(validateLines(os.Stdin, out, definitions))
	default:
		fail(fmt.Errorf("unknown command %q", os.Args[1]))
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(2)
}

func check(err error) {
	if err != nil {
		fail(err)
	}
}

// finding is one field error in a form that two programs can compare.
type finding struct {
	Path    string `json:"path"`
	Type    string `json:"type"`
	Message string `json:"message"`
}

func findings(errs field.ErrorList) []finding {
	found := make([]finding, 0, len(errs))
	for _, e := range errs {
		found = append(found, finding{Path: e.Field, Type: string(e.Type), Message: e.Detail})
	}
	sort.SliceStable(found, func(i, j int) bool {
		return found[i].Path+found[i].Message < found[j].Path+found[j].Message
	})
	return found
}

type definition struct {
	crd      *extv1.CustomResourceDefinition
	internal *apiextensions.CustomResourceDefinition
	invalid  field.ErrorList
	schemas  map[string]*versionSchema
}

type versionSchema struct {
	structural *structuralschema.Structural
	validator  apiservervalidation.SchemaValidator
	cel        *structuralcel.Validator
}

func (d *definition) errors() []finding { return findings(d.invalid) }

func load(path string) ([]*definition, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var raw []json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		return nil, err
	}
	var all []*definition
	for _, r := range raw {
		d, err := read(r)
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return all, nil
}

func read(raw json.RawMessage) (*definition, error) {
	var kind struct{ Kind string }
	if err := json.Unmarshal(raw, &kind); err != nil {
		return nil, err
	}
	crd := &extv1.CustomResourceDefinition{}
	if kind.Kind == "CompositeResourceDefinition" {
		xrd := &xpv1.CompositeResourceDefinition{}
		if err := json.Unmarshal(raw, xrd); err != nil {
			return nil, err
		}
		xrd.SetUID("0") // stored objects have one, and the derived definition is owned by it
		derived, err := xcrd.ForCompositeResource(xrd)
		if err != nil {
			return nil, err
		}
		crd = derived
	} else if err := json.Unmarshal(raw, crd); err != nil {
		return nil, err
	}
	extv1.SetDefaults_CustomResourceDefinition(crd)
	extv1.SetDefaults_CustomResourceDefinitionSpec(&crd.Spec)
	internal := &apiextensions.CustomResourceDefinition{}
	if err := extv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(crd, internal, nil); err != nil {
		return nil, err
	}
	// What the storage version of a fresh definition is, the server fills in before it validates.
	for _, v := range crd.Spec.Versions {
		if v.Storage {
			internal.Status.StoredVersions = []string{v.Name}
		}
	}
	d := &definition{crd: crd, internal: internal, schemas: map[string]*versionSchema{}}
	d.invalid = crdvalidation.ValidateCustomResourceDefinition(context.Background(), internal)
	if len(d.invalid) > 0 {
		return d, nil
	}
	return d, d.compile()
}

func (d *definition) compile() error {
	for _, v := range d.internal.Spec.Versions {
		// With a single version the conversion has moved the schema to the top.
		schema := d.internal.Spec.Validation
		if v.Schema != nil {
			schema = v.Schema
		}
		structural, err := structuralschema.NewStructural(schema.OpenAPIV3Schema)
		if err != nil {
			return err
		}
		if err := structuraldefaulting.PruneDefaults(structural); err != nil {
			return err
		}
		validator, _, err := apiservervalidation.NewSchemaValidator(schema.OpenAPIV3Schema)
		if err != nil {
			return err
		}
		d.schemas[v.Name] = &versionSchema{
			structural: structural,
			validator:  validator,
			cel:        structuralcel.NewValidator(structural, true, celconfig.PerCallLimit),
		}
	}
	return nil
}

type line struct {
	ID       string          `json:"id"`
	Document json.RawMessage `json:"document"`
	Old      json.RawMessage `json:"old"`
}

type answer struct {
	ID        string         `json:"id"`
	Errors    []finding      `json:"errors"`
	Unknown   []string       `json:"unknown"`
	Defaulted map[string]any `json:"defaulted"`
}

func validateLines(in io.Reader, out *json.Encoder, definitions []*definition) error {
	byKind := map[string]*definition{}
	for _, d := range definitions {
		if len(d.invalid) > 0 {
			return fmt.Errorf("%s: %v", d.crd.Name, d.invalid.ToAggregate())
		}
		byKind[d.crd.Spec.Names.Kind] = d
	}
	scanner := bufio.NewScanner(in)
	scanner.Buffer(nil, 64<<20)
	for scanner.Scan() {
		var l line
		if err := json.Unmarshal(scanner.Bytes(), &l); err != nil {
			return err
		}
		a, err := validateLine(l, byKind)
		if err != nil {
			return fmt.Errorf("%s: %w", l.ID, err)
		}
		if err := out.Encode(a); err != nil {
			return err
		}
	}
	return scanner.Err()
}

func validateLine(l line, byKind map[string]*definition) (*answer, error) {
	object, err := decode(l.Document)
	if err != nil {
		return nil, err
	}
	kind, _ := object["kind"].(string)
	d := byKind[kind]
	if d == nil {
		return nil, fmt.Errorf("no definition of kind %q", kind)
	}
	u := &unstructured.Unstructured{Object: object}
	s := d.schemas[u.GroupVersionKind().Version]
	if s == nil {
		return nil, fmt.Errorf("no version %q of kind %q", u.GroupVersionKind().Version, kind)
	}
	unknown := s.admit(object)
	var old map[string]any
	if len(l.Old) > 0 {
		if old, err = decode(l.Old); err != nil {
			return nil, err
		}
		s.admit(old)
	}
	// Interfaces hold defaults as int64; a round trip makes the reply plain.
	errs := s.validate(u, old, d.crd.Spec.Scope == extv1.NamespaceScoped)
	return &answer{ID: l.ID, Errors: findings(errs), Unknown: unknown, Defaulted: object}, nil
}

// decode reads numbers as the API server does: whole ones as int64.
func decode(raw json.RawMessage) (map[string]any, error) {
	var object map[string]any
	if err := utiljson.Unmarshal(raw, &object); err != nil {
		return nil, err
	}
	return runtime.DeepCopyJSON(object), nil
}

// admit prunes and defaults in the order of the server's decoder.
func (s *versionSchema) admit(object map[string]any) []string {
	unknown := structuralpruning.PruneWithOptions(object, s.structural, true,
		structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	structuraldefaulting.PruneNonNullableNullsWithoutDefaults(object, s.structural)
	structuraldefaulting.Default(object, s.structural)
	if unknown == nil {
		unknown = []string{}
	}
	return unknown
}

// validate mirrors the strategy of custom resources: metadata, schema, list types, then rules unless a blocking error was found.
func (s *versionSchema) validate(u *unstructured.Unstructured, old map[string]any, namespaced bool) field.ErrorList {
	var errs field.ErrorList
	errs = append(errs, validation.ValidateObjectMetaAccessor(u, namespaced, validation.NameIsDNSSubdomain, field.NewPath("metadata"))...)
	if old == nil {
		errs = append(errs, apiservervalidation.ValidateCustomResource(nil, u.Object, s.validator)...)
	} else {
		errs = append(errs, apiservervalidation.ValidateCustomResourceUpdate(nil, u.Object, old, s.validator)...)
	}
	errs = append(errs, structurallisttype.ValidateListSetsAndMaps(nil, s.structural, u.Object)...)
	if blocked(errs) {
		return append(errs, field.Invalid(nil, nil, "some validation rules were not checked because the object was invalid; "+
			"correct the existing errors to complete validation"))
	}
	var oldObject any
	if old != nil {
		oldObject = old
	}
	celErrs, _ := s.cel.Validate(context.Background(), nil, s.structural, u.Object, oldObject, celconfig.RuntimeCELCostBudget)
	return append(errs, celErrs...)
}

func blocked(errs field.ErrorList) bool {
	for _, e := range errs {
		switch e.Type {
		case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
			return true
		}
	}
	return false
}
