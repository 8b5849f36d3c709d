package mcp

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"steward/mcp/local"
)

// BenchmarkEcho calls the smallest operation over the socket, validated like
// any other: what the transport costs.
func BenchmarkEcho(b *testing.B) {
	benchmark(b, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"test_echo","arguments":{"text":"%s"}}}`+"\n")
}

// BenchmarkReceipt calls report_done over the socket: the transport and the
// ledger.
func BenchmarkReceipt(b *testing.B) {
	benchmark(b, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"report_done","arguments":{"actor":"ada","object_id":"build-7","outcome":"%s","file":"/home/ada/api/main.go","metrics":{"tests":120,"failed":0}}}}`+"\n")
}

const benchText = "the parser reads nested lists, all tests pass"

func benchmark(b *testing.B, line string) {
	for _, clients := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			f := serving(b)
			conns := make([]*client, clients)
			for i := range conns {
				conns[i] = f.hello(b, local.Hello{Stream: "api"})
				if err := conns[i].SetDeadline(time.Time{}); err != nil {
					b.Fatal(err)
				}
			}
			var left atomic.Int64
			left.Store(int64(b.N))
			var all sync.WaitGroup
			b.ResetTimer()
			for _, c := range conns {
				all.Go(func() {
					var buf []byte
					for id := left.Add(-1); id >= 0; id = left.Add(-1) {
						buf = fmt.Appendf(buf[:0], line, id, benchText)
						if _, err := c.Write(buf); err != nil {
							b.Error(err)
							return
						}
						answer, err := c.r.ReadSlice('\n')
						if err != nil && err != io.EOF || len(answer) < 40 {
							b.Errorf("%q, %v", answer, err)
							return
						}
					}
				})
			}
			all.Wait()
			b.StopTimer()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
			b.ReportMetric(0, "ns/op")
		})
	}
}
