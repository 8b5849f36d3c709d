// Package jsonschema stands in for the JSON Schema library that mcp-go links
// for its optional validation of arguments and results. Steward validates both
// itself and never switches that on, but the real package compiles its
// meta-schemas in every process at start: more than half of the time a bridge
// needs to its first answer. What mcp-go refers to is here; whoever switches its
// validation on gets ErrUnlinked for every tool instead of a check that passes
// everything.
package jsonschema

import (
	"encoding/json"
	"errors"
	"io"
)

// ErrUnlinked is what compiling a schema returns.
var ErrUnlinked = errors.New("jsonschema is not linked into this program")

// Schema is never made.
type Schema struct{}

// Validate returns ErrUnlinked.
func (*Schema) Validate(any) error { return ErrUnlinked }

// Compiler makes no schema.
type Compiler struct{}

// NewCompiler returns a Compiler.
func NewCompiler() *Compiler { return &Compiler{} }

// AddResource returns ErrUnlinked.
func (*Compiler) AddResource(string, any) error { return ErrUnlinked }

// Compile returns ErrUnlinked.
func (*Compiler) Compile(string) (*Schema, error) { return nil, ErrUnlinked }

// ValidationError is never made.
type ValidationError struct {
	InstanceLocation []string
	ErrorKind        any
	Causes           []*ValidationError
}

func (*ValidationError) Error() string { return ErrUnlinked.Error() }

// UnmarshalJSON decodes one JSON document, numbers as json.Number.
func UnmarshalJSON(r io.Reader) (any, error) {
	d := json.NewDecoder(r)
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}
