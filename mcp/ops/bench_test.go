package ops

import (
	"context"
	"encoding/json"
	"reflect"
	"testing"

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
