package rig

import (
	"encoding/json"
	"fmt"
	"strconv"

	"steward/ledger"
)

// Payload is what one receipt carries: the bytes of its actor, type, object,
// outcome, file and metrics (as compact JSON), keys of the arguments not counted.
const Payload = 143

// The shape of the receipts: every perObject-th receipt of a client is about a
// new object, and every perFailure-th reports a failure that a later receipt
// about the same object may resolve.
const (
	perObject  = 20
	perFailure = 50
)

const remark = "all tests pass after the change; the request parser now refuses a field that comes twice"

// Event returns the n-th receipt of a client as the ledger stores it.
func Event(client, n int) ledger.Event {
	e := ledger.Event{
		Actor:      fmt.Sprintf("agent-%04d", client%10_000),
		Type:       ledger.TypeDone,
		Object:     fmt.Sprintf("issue-%06d", (client*7919+n/perObject)%1_000_000),
		Outcome:    "",
		File:       fmt.Sprintf("internal/parser/step_%04d.go", n%10_000),
		Injectable: true,
		Metrics: ledger.Metrics{
			{Key: "tests", Value: json.Number(strconv.Itoa(1_000 + n%9_000))},
			{Key: "ms", Value: json.Number(strconv.Itoa(10_000 + n%90_000))},
		},
	}
	if n%perFailure == perFailure-1 {
		e.Type = "check_failed"
	}
	metrics, err := e.Metrics.MarshalJSON()
	if err != nil {
		panic(err) // two plain numbers always marshal
	}
	rest := Payload - len(e.Actor) - len(e.Type) - len(e.Object) - len(e.File) - len(metrics)
	e.Outcome = remark[:rest]
	return e
}

// Arguments returns the same receipt as report_done's arguments.
func Arguments(client, n int) []byte {
	e := Event(client, n)
	metrics, err := e.Metrics.MarshalJSON()
	if err != nil {
		panic(err) // two plain numbers always marshal
	}
	return fmt.Appendf(nil, `{"actor":%q,"type":%q,"object_id":%q,"outcome":%q,"file":%q,"metrics":%s}`,
		e.Actor, e.Type, e.Object, e.Outcome, e.File, metrics)
}
