package rig

import (
	"encoding/json"
	"testing"
)

// The size of an event and the rates are only comparable while every receipt
// carries the same number of bytes.
func TestReceiptsCarryPayload(t *testing.T) {
	for _, client := range []int{0, 7, 63, 9_999} {
		for _, n := range []int{0, 1, perFailure - 1, 12_345, 999_999} {
			e := Event(client, n)
			if err := e.Validate(); err != nil {
				t.Fatalf("receipt %d of client %d: %v", n, client, err)
			}
			metrics, err := e.Metrics.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			got := len(e.Actor) + len(e.Type) + len(e.Object) + len(e.Outcome) + len(e.File) + len(metrics)
			if got != Payload {
				t.Errorf("receipt %d of client %d carries %d bytes, want %d", n, client, got, Payload)
			}
			if args := Arguments(client, n); !json.Valid(args) {
				t.Errorf("arguments are not JSON: %s", args)
			}
		}
	}
}
