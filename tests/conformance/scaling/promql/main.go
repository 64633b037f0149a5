// Values of queries over series, by the engine of Prometheus itself.
//
// Input: {"series": "load 1m\n  name{label=\"a\"} 1+0x10 ...", "queries": [...], "seconds": 600}. Output: for each query
// a value, null where it has no series, and an error where it is not valid or gives more than one element.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/storage"
)

type question struct {
	Series  string   `json:"series"`
	Queries []string `json:"queries"`
	Seconds int64    `json:"seconds"`
}

type answer struct {
	Value *float64 `json:"value"`
	Error string   `json:"error,omitempty"`
}

// failure stands for a test that the storage would fail; only its own methods are called.
type failure struct{ testing.TB }

func (failure) Helper()                        {}
func (failure) Cleanup(func())                 {}
func (failure) TempDir() string                { return folder }
func (failure) FailNow()                       { panic("the series cannot be loaded") }
func (failure) Errorf(text string, all ...any) { panic(fmt.Sprintf(text, all...)) }
func (failure) Fatal(all ...any)               { panic(fmt.Sprint(all...)) }
func (failure) Fatalf(text string, all ...any) { panic(fmt.Sprintf(text, all...)) }

var folder string

func main() {
	var asked question
	if err := json.NewDecoder(os.Stdin).Decode(&asked); err != nil {
		panic(err)
	}
	made, err := os.MkdirTemp("", "promql")
	if err != nil {
		panic(err)
	}
	folder = made
	defer os.RemoveAll(folder)
	stored := promqltest.LoadedStorage(failure{}, asked.Series)
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1000000, Timeout: time.Minute})
	answers := make([]answer, len(asked.Queries))
	for i, text := range asked.Queries {
		answers[i] = ask(engine, stored, text, time.Unix(asked.Seconds, 0))
	}
	if err := json.NewEncoder(os.Stdout).Encode(answers); err != nil {
		panic(err)
	}
}

func ask(engine *promql.Engine, stored storage.Queryable, text string, at time.Time) answer {
	query, err := engine.NewInstantQuery(context.Background(), stored, nil, text, at)
	if err != nil {
		return answer{Error: err.Error()}
	}
	defer query.Close()
	result := query.Exec(context.Background())
	if result.Err != nil {
		return answer{Error: result.Err.Error()}
	}
	if result.Value.Type() != parser.ValueTypeVector {
		return answer{Error: "is no vector"}
	}
	vector, _ := result.Vector()
	if len(vector) > 1 {
		return answer{Error: fmt.Sprintf("has %d elements", len(vector))}
	}
	if len(vector) == 0 {
		return answer{}
	}
	return answer{Value: &vector[0].F}
}
