//go:build race

package mcp

const raceDetector = true
