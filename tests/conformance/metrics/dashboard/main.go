// Reads a dashboard of Grafana on standard input as Grafana's own model does, strictly: a field that the model lacks, or
// a value of another type, is an error.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

func main() {
	plugins.RegisterDefaultPlugins()
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		panic(err)
	}
	var found dashboard.Dashboard
	refuse(found.UnmarshalJSONStrict(text))
	refuse(found.Validate())
	fmt.Println(len(found.Panels))
}

// refuse ends the program with an error. The model returns an empty list of errors for none.
func refuse(err error) {
	if err != nil && err.Error() != "" {
		fmt.Println(err)
		os.Exit(1)
	}
}
