//go:build unix

package ledger

import (
	"context"
	"fmt"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"modernc.org/sqlite"
)

// BenchmarkCommit is the writer alone, without the goroutines that wait for it:
// stamped receipts of as many bridges as the batch holds, at most 64 actors in
// 40 workspaces, all injectable, as bench/receipts sends them. It reports what
// travels between machines: pages written to the write-ahead log and statements
// run, for one commit. The search index is left out.
func BenchmarkCommit(b *testing.B) {
	for _, n := range []int{1, 8, 30, 64} {
		b.Run(fmt.Sprintf("batch=%d", n), func(b *testing.B) {
			l, err := Open(context.Background(), Options{Path: filepath.Join(b.TempDir(), "ledger.db")})
			if err != nil {
				b.Fatal(err)
			}
			defer l.Close()
			sent := 0
			batch := make([]*update, n)
			commit := func() {
				for i := range batch {
					client, k := sent%64, sent/64
					sent++
					e := Event{
						Actor: fmt.Sprintf("agent-%04d", client), Type: TypeDone, Object: fmt.Sprintf("issue-%06d", (client*7919+k/20)%1_000_000),
						Workspace: fmt.Sprintf("workspace-%02d", client%40), Caller: fmt.Sprintf("workspace-%02d", client%40),
						Outcome: "all tests pass after the change; the request parser now refuses a f", File: fmt.Sprintf("internal/parser/step_%04d.go", k%10_000),
						Metrics: Metrics{{Key: "tests", Value: "1234"}, {Key: "ms", Value: "56789"}}, Injectable: true,
					}
					if k%50 == 49 {
						e.Type = "check_failed"
					}
					batch[i] = &update{
						ctx: context.Background(), stamp: &Stamp{Bridge: fmt.Sprintf("0123456789abcdef0123456789ab%04d", client), Slot: 0, Seq: uint64(k + 1)},
						fn: func(tx *Tx) ([]byte, error) {
							_, err := tx.Append(e)
							return []byte(`{"event_id":1234567,"recorded_at":"2026-11-30T18:51:00.000Z"}`), err
						},
					}
				}
				if !l.w.commit(batch) {
					b.Fatal(batch[0].err)
				}
			}
			for range 20_000 / n { // trees of a few levels, as a ledger in use has
				commit()
			}
			pages := l.w.pagesWritten(b)
			ran := l.w.ran
			b.ReportAllocs()
			spent := cpu(b)
			b.ResetTimer()
			for range b.N {
				commit()
			}
			b.StopTimer()
			b.ReportMetric(float64(b.N*n)/b.Elapsed().Seconds(), "events/s")
			b.ReportMetric(float64((cpu(b)-spent).Nanoseconds())/1000/float64(b.N*n), "cpu-µs/event")
			b.ReportMetric(float64(l.w.pagesWritten(b)-pages)/float64(b.N), "pages/commit")
			b.ReportMetric(float64(l.w.ran-ran)/float64(b.N*n), "statements/event")
		})
	}
}

func (k *conn) pagesWritten(tb testing.TB) (n int) {
	err := k.c.Raw(func(c any) (err error) {
		n, _, err = c.(interface {
			Status(op sqlite.DBStatusOp, reset bool) (int, int, error)
		}).Status(sqlite.DBStatusCacheWrite, false)
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return n
}

// cpu is the processor time the process has used.
func cpu(tb testing.TB) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
