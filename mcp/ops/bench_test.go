package ops

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"testing"
	"time"

	"steward/ledger"
)

// A receipt of usual size.
var receiptArgs = json.RawMessage(`{"actor":"codex-3","type":"done","object_id":"api#412","outcome":"login test fixed; the flaky retry was a race in the fixture","file":"internal/auth/login_test.go","metrics":{"tests":212,"failed":0,"seconds":41.5}}`)

func BenchmarkDecode(b *testing.B) {
	s := inputSchema("report_done", reflect.TypeFor[reportDoneArgs]())
	b.SetBytes(int64(len(receiptArgs)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := decode[reportDoneArgs](s, receiptArgs); err != nil {
			b.Fatal(err)
		}
	}
}

// What the walk replaces: encoding/json alone, without a single check.
func BenchmarkDecodeEncodingJSON(b *testing.B) {
	b.SetBytes(int64(len(receiptArgs)))
	b.ReportAllocs()
	for b.Loop() {
		var in struct {
			Actor      string         `json:"actor"`
			Type       string         `json:"type"`
			Object     string         `json:"object_id"`
			Outcome    string         `json:"outcome"`
			File       string         `json:"file"`
			Metrics    ledger.Metrics `json:"metrics"`
			Injectable *bool          `json:"injectable"`
		}
		if err := json.Unmarshal(receiptArgs, &in); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDigest(b *testing.B) {
	b.SetBytes(int64(len(receiptArgs)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Digest("report_done", receiptArgs); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkReportDone is the whole way of a receipt but the transport, with as
// many callers as the bench has parallelism for; each has its own slot.
func BenchmarkReportDone(b *testing.B) {
	s := newBench(b)
	b.ReportAllocs()
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := s.Call(context.Background(), agent, "report_done", receiptArgs); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkSituationReport(b *testing.B) {
	s := newBench(b)
	for range 64 {
		s.ok(b, agent, "report_done", string(receiptArgs))
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Call(context.Background(), agent, "situation_report", nil); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkBriefGet costs the same however long the ledger is.
func BenchmarkBriefGet(b *testing.B) {
	for _, events := range []int{10_000, 100_000} {
		b.Run(strconv.Itoa(events), func(b *testing.B) {
			s := newBench(b)
			fill(b, s, events)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Call(context.Background(), person, "brief_get", nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// fill appends events of some actors over as many seconds, some of them failures,
// and a few handoffs.
func fill(b *testing.B, s *bench, events int) {
	b.Helper()
	for done := 0; done < events; {
		if _, err := s.log.Update(context.Background(), nil, [32]byte{}, func(tx *ledger.Tx) ([]byte, error) {
			for range 500 {
				e := ledger.Event{
					Actor: fmt.Sprint("agent-", done%23), Workspace: fmt.Sprint("work-", done%7), Object: fmt.Sprint("task-", done%301), Type: "done",
					Outcome: "login test fixed; the flaky retry was a race in the fixture", File: "internal/auth/login_test.go", Injectable: done%2 == 0,
				}
				if done%11 == 0 {
					e.Type = "failed"
				}
				if _, err := tx.Append(e); err != nil {
					return nil, err
				}
				done++
			}
			return nil, nil
		}); err != nil {
			b.Fatal(err)
		}
		s.clock.Add(500 * time.Second)
	}
	for i := range 30 {
		s.ok(b, agent, "handoff_create", fmt.Sprintf(`{"target":"dj","instruction":"mix take %d","idempotency_key":"k%d"}`, i, i))
	}
}
