package ledger_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"steward/ledger"
	"steward/ledger/ledgertest"
)

// receipt is an event of 143 bytes payload, as the size budget counts it.
func receipt(i int) ledger.Event {
	return ledger.Event{
		Actor: fmt.Sprintf("agent-%d", i%64), Type: [...]string{"done", "progress", "done", "note"}[i%4], Object: fmt.Sprintf("task-%d", i%500), Workspace: fmt.Sprintf("workspace-%d", i%12),
		Outcome: fmt.Sprintf("step %06d finished, all checks pass and files are written", i), File: fmt.Sprintf("src/pkg%02d/file%03d.go", i%20, i%300),
		Metrics: ledger.Metrics{{Key: "tests", Value: "48"}, {Key: "seconds", Value: "1.25"}}, Injectable: i%8 == 0,
	}
}

func BenchmarkUpdate(b *testing.B) {
	for _, callers := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			l := ledgertest.Open(b, nil)
			var wg sync.WaitGroup
			b.ResetTimer()
			for c := range callers {
				wg.Go(func() {
					for i := c; i < b.N; i += callers {
						if _, err := l.Update(context.Background(), nil, [32]byte{}, func(tx *ledger.Tx) ([]byte, error) {
							_, err := tx.Append(receipt(i))
							return nil, err
						}); err != nil {
							b.Error(err)
						}
					}
				})
			}
			wg.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
}

func fill(b *testing.B, l *ledger.Log, n int) {
	for i := 0; i < n; {
		if _, err := l.Update(context.Background(), nil, [32]byte{}, func(tx *ledger.Tx) ([]byte, error) {
			for range 5000 {
				if _, err := tx.Append(receipt(i)); err != nil {
					return nil, err
				}
				if i++; i == n {
					break
				}
			}
			return nil, nil
		}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReportQueries(b *testing.B) {
	for _, n := range []int{10_000, 200_000} {
		path := filepath.Join(b.TempDir(), "ledger.db")
		l := ledgertest.OpenWith(b, ledger.Options{Path: path})
		fill(b, l, n)
		for _, ws := range []string{"", "workspace-3"} {
			b.Run(fmt.Sprintf("events=%d/workspace=%s", n, ws), func(b *testing.B) {
				for b.Loop() {
					ledgertest.View(b, l, func(v *ledger.View) error {
						v.KeyEvents(ws, 0, 20)
						v.Failures(ws, 10)
						v.Movers(ws, v.Now()-30*60*1000, 10)
						_, _, err := v.Focus(ws)
						return err
					})
				}
			})
		}
		b.Run(fmt.Sprintf("events=%d/size", n), func(b *testing.B) {
			s, err := os.Stat(path)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(s.Size())/float64(n), "bytes/event")
		})
	}
}
