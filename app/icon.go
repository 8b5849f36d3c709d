//go:build desktop && !bindings

package app

var icon []byte
