package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"steward/ledger"
	"steward/ledger/ledgertest"
)

func found(t *testing.T, l *ledger.Log, query string) []int64 {
	t.Helper()
	events, _, err := search(l, query, 0, 100)
	if err != nil {
		t.Fatalf("%q: %v", query, err)
	}
	out := []int64{}
	for _, e := range events {
		out = append(out, e.ID)
	}
	return out
}

func search(l *ledger.Log, query string, before int64, limit int) (events []ledger.Event, more bool, err error) {
	err = l.View(context.Background(), func(v *ledger.View) error {
		events, more, err = v.Search(query, before, limit)
		return err
	})
	return events, more, err
}

// indexed waits until the follower has come to the end.
func indexed(t *testing.T, l *ledger.Log) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		var behind int64
		ledgertest.View(t, l, func(v *ledger.View) error {
			return v.QueryRow(`SELECT (SELECT last_id FROM head) - through_id FROM followers WHERE name = 'search'`).Scan(&behind)
		})
		if behind == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the index is still %d behind", behind)
		}
	}
}

func TestSearchFindsWordsAndChinese(t *testing.T) {
	l := ledgertest.Open(t, nil)
	ledgertest.Append(t, l,
		ledger.Event{Actor: "api-server", Type: "build_failed", Object: "migration-0042", Outcome: `duplicate column "owner_id"`, File: "db/migrate/0042_owner.go"},
		ledger.Event{Actor: "library", Type: "done", Outcome: "下载完成：12 首曲目已入库"},
		ledger.Event{Actor: "dj", Type: "done", Outcome: "Café Zürich mixed, ﬁnal"},
		ledger.Event{Actor: "dj", Type: "done", Outcome: "カタカナ 한국어"},
		ledger.Event{Actor: "quote", Type: "note", Outcome: `say "AND" OR (x NEAR y) * ^ : -z`},
		ledger.Event{Actor: "mixer", Type: "export", Outcome: "混音ＶＥＲＳＩＯＮ９９完成 🎉"})
	check := func(when string) {
		for _, c := range []struct {
			query string
			want  []int64
		}{
			{"duplicate", []int64{1}}, {"dupl", []int64{1}}, {"OWNER", []int64{1}}, {"0042", []int64{1}}, {"api-server", []int64{1}}, {"build_failed", []int64{1}}, {"migrate owner", []int64{1}},
			{"duplicate dj", []int64{}}, {"下载", []int64{2}}, {"曲目", []int64{2}}, {"version99", []int64{6}}, {"ｖersion", []int64{6}}, {"音ver", []int64{6}}, {"１２首", []int64{2}}, {"载完", []int64{2}}, {"完载", []int64{}}, {"库", []int64{2}}, {"下载 library", []int64{2}}, {"12首", []int64{2}},
			{"cafe", []int64{3}}, {"zurich", []int64{3}}, {"タカ", []int64{4}}, {"국어", []int64{4}}, {"done", []int64{4, 3, 2}}, {`"AND" OR`, []int64{5}}, {"near*", []int64{5}}, {"z", []int64{5}}, {"y)", []int64{5}},
		} {
			if got := found(t, l, c.query); !slices.Equal(got, c.want) {
				t.Errorf("%s: %q found %v, want %v", when, c.query, got, c.want)
			}
		}
	}
	check("from the tail")
	indexed(t, l)
	check("from the index")
	ledgertest.Append(t, l, ledger.Event{Actor: "dj", Type: "done"})
	if got := found(t, l, "dj"); !slices.Equal(got, []int64{7, 4, 3}) {
		t.Errorf("from both: %v", got)
	}
	ledgertest.Verify(t, l)
}

func TestSearchPages(t *testing.T) {
	l := ledgertest.Open(t, nil)
	for i := range 300 {
		ledgertest.Append(t, l, ledger.Event{Actor: "a", Type: "done", Outcome: fmt.Sprintf("word %d", i)})
		if i == 200 {
			indexed(t, l)
		}
	}
	var got []int64
	before := int64(0)
	for {
		events, more, err := search(l, "word", before, 7)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			got = append(got, e.ID)
		}
		if !more {
			break
		}
		before = events[len(events)-1].ID
	}
	if len(got) != 300 || !slices.IsSortedFunc(got, func(a, b int64) int { return int(b - a) }) {
		t.Errorf("%d found", len(got))
	}
}

func TestSearchRefusesWhatHoldsNoWord(t *testing.T) {
	l := ledgertest.Open(t, nil)
	for _, q := range []string{"", "   ", `"*"`, "--", strings.Repeat("x", 257), "a\x00b"} {
		if _, _, err := search(l, q, 0, 10); !errors.Is(err, ledger.ErrInvalid) {
			t.Errorf("%.20q: %v", q, err)
		}
	}
}

func TestTheIndexNeverFallsFarBehind(t *testing.T) {
	l := ledgertest.Open(t, nil)
	for range 4 { // each far more than a slice, without a pause between them
		if _, err := update(t, l, func(tx *ledger.Tx) ([]byte, error) {
			for i := range 3000 {
				if _, err := tx.Append(ledger.Event{Actor: "a", Type: "done", Outcome: fmt.Sprint(i)}); err != nil {
					return nil, err
				}
			}
			return nil, nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	indexed(t, l)
	if got := found(t, l, "2999"); len(got) != 4 {
		t.Errorf("%v", got)
	}
}

func FuzzSearch(f *testing.F) {
	f.Add("下载 duplicate", "a \"b\" AND")
	l, err := ledger.Open(context.Background(), ledger.Options{Path: f.TempDir() + "/ledger.db"})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { l.Close() })
	f.Fuzz(func(t *testing.T, outcome, query string) {
		_, err := update(t, l, func(tx *ledger.Tx) ([]byte, error) {
			_, err := tx.Append(ledger.Event{Actor: "a", Type: "done", Outcome: outcome})
			return nil, err
		})
		if err != nil && !errors.Is(err, ledger.ErrInvalid) {
			t.Fatal(err)
		}
		if _, _, err := search(l, query, 0, 10); err != nil && !errors.Is(err, ledger.ErrInvalid) {
			t.Fatalf("%q: %v", query, err)
		}
	})
}

// A damaged index must not take the writer with it.
func TestABrokenIndexLeavesTheLedger(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	l := ledgertest.OpenWith(t, ledger.Options{Path: path})
	ledgertest.Append(t, l, ledger.Event{Actor: "a", Type: "done"})
	indexed(t, l)
	if err := raw(t, path, `DROP TABLE search`); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		ledgertest.Append(t, l, ledger.Event{Actor: "a", Type: "done"})
	}
	if _, err := update(t, l, func(tx *ledger.Tx) ([]byte, error) {
		for range 6000 { // so far behind that the writer indexes before it commits
			if _, err := tx.Append(ledger.Event{Actor: "c", Type: "note"}); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}); err != nil {
		t.Fatal(err)
	}
	ledgertest.Append(t, l, ledger.Event{Actor: "d", Type: "done"})
}
