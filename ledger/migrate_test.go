package ledger

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// future is the ladder with two more steps, as a later build would have.
func future() []string {
	return append(append([]string{}, ladder...), `CREATE TABLE later(x INTEGER) STRICT; INSERT INTO later VALUES(1);`, `ALTER TABLE later ADD COLUMN y INTEGER;`)
}

func prepared(t *testing.T, path string, ladder []string) {
	t.Helper()
	if _, err := prepareFile(context.Background(), path, filepath.Join(filepath.Dir(path), "backups"), ladder, quiet); err != nil {
		t.Fatal(err)
	}
}

func schemaOf(t *testing.T, path string) map[string]string {
	t.Helper()
	c, err := connect(path, "rw")
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	s, err := c.schema()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestMigratedEqualsFresh(t *testing.T) {
	old, fresh := filepath.Join(t.TempDir(), "ledger.db"), filepath.Join(t.TempDir(), "ledger.db")
	prepared(t, old, ladder)
	prepared(t, old, future())
	prepared(t, old, future()) // idempotent
	prepared(t, fresh, future())
	if !maps.Equal(schemaOf(t, old), schemaOf(t, fresh)) {
		t.Errorf("migrated %v\nfresh %v", schemaOf(t, old), schemaOf(t, fresh))
	}
	backups, err := filepath.Glob(filepath.Join(filepath.Dir(old), "backups", "*.db"))
	if err != nil || len(backups) != 2 {
		t.Fatalf("backups: %v, %v", backups, err)
	}
	for _, b := range backups {
		if v, err := inspect(b, 99); err != nil || !strings.Contains(b, "before-schema-") || v >= len(future()) {
			t.Errorf("%s: version %d, %v", b, v, err)
		}
	}
	if _, err := prepareFile(context.Background(), old, "", ladder, quiet); !errors.Is(err, ErrNewer) {
		t.Errorf("the older build: %v", err)
	}
}

// thaw returns a copy of a frozen ledger, as a build with that schema wrote it.
func thaw(t *testing.T, version int) string {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("testdata/ledger-v%d.db", version))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "ledger.db")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if v, err := inspect(path, SchemaVersion); err != nil || v != version {
		t.Fatalf("ledger-v%d.db: its schema is %d, %v", version, v, err)
	}
	return path
}

// TestFrozenSchemas opens a ledger of each schema before this build's. The
// newest one's file is frozen when its step is released.
func TestFrozenSchemas(t *testing.T) {
	fresh := filepath.Join(t.TempDir(), "ledger.db")
	prepared(t, fresh, ladder)
	for version := 1; version < SchemaVersion; version++ {
		path := thaw(t, version)
		l, err := Open(context.Background(), Options{Path: path})
		if err != nil {
			t.Fatalf("schema %d: %v", version, err)
		}
		if _, err := l.Update(context.Background(), nil, [32]byte{}, func(tx *Tx) ([]byte, error) {
			_, err := tx.Append(Event{Actor: "a", Type: "done", Workspace: "w", Injectable: true})
			return nil, err
		}); err != nil {
			t.Errorf("schema %d: append: %v", version, err)
		}
		r, err := l.Verify(context.Background())
		if err != nil || !r.OK() || r.Events < 2 {
			t.Errorf("schema %d: %+v, %v", version, r, err)
		}
		l.Close()
		if !maps.Equal(schemaOf(t, path), schemaOf(t, fresh)) {
			t.Errorf("schema %d: migrated %v\nfresh %v", version, schemaOf(t, path), schemaOf(t, fresh))
		}
		if backups, err := filepath.Glob(filepath.Join(filepath.Dir(path), "backups", "before-schema-*.db")); err != nil || len(backups) != SchemaVersion-version {
			t.Errorf("schema %d: backups %v, %v", version, backups, err)
		}
	}
}

func TestFailedMigrationChangesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	prepared(t, path, ladder)
	before, _ := os.ReadFile(path)
	bad := append(append([]string{}, ladder...), `CREATE TABLE later(x) STRICT;`)
	if _, err := prepareFile(context.Background(), path, filepath.Join(filepath.Dir(path), "backups"), bad, quiet); err == nil {
		t.Fatal("a table without types is not strict")
	}
	if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
		t.Error("the file changed")
	}
	prepared(t, path, future())
}

func TestMigrationWithoutRoomForTheBackupIsNotTried(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	prepared(t, path, ladder)
	notADir := filepath.Join(t.TempDir(), "file")
	os.WriteFile(notADir, nil, 0o600)
	if _, err := prepareFile(context.Background(), path, notADir, future(), quiet); err == nil || !strings.Contains(err.Error(), "backup") {
		t.Errorf("%v", err)
	}
	if v, err := inspect(path, 99); err != nil || v != len(ladder) {
		t.Errorf("version %d, %v", v, err)
	}
}

// TestLinkIsFrozen holds version 1 of the hash: a change would make every
// ledger in the world fail its check.
func TestLinkIsFrozen(t *testing.T) {
	r := row{id: 7, at: 1_764_504_000_123, saidAt: 5, flags: flags(true, Person)}
	r.text[fActor], r.text[fType], r.text[fOutcome] = field{"a", true}, field{"done", true}, field{"", true}
	h, _ := r.link(hash{1, 2, 3}, nil)
	// Computed apart from this program, from the text above link.
	const want = "410b9002d46e2fc0507d33ec7acd2b1619691ab37d233fb58943c90f15ad273f"
	if got := hex.EncodeToString(h[:]); got != want {
		t.Errorf("link is %s", got)
	}
}

func TestLaneCountsAStepOfTwoMinutes(t *testing.T) {
	var l lane
	l.add(1, 0)
	l.add(2, bucketLen-1)
	l.add(3, bucketLen)
	l.add(4, 14*bucketLen)
	l.add(5, 13*bucketLen) // the clock went back
	l.add(6, 200*bucketLen)
	l.add(7, 3*bucketLen) // far back: only in n
	if l.n != 7 || l.recent != [buckets]uint16{1} || l.bucket != 200 {
		t.Errorf("%+v", l)
	}
	out := make([]int64, buckets)
	l.spread(202*bucketLen, out)
	if out[12] != 1 {
		t.Errorf("%v", out)
	}
	var m lane
	m.unpack(l.pack())
	if m.recent != l.recent {
		t.Errorf("%v", m.recent)
	}
	for range 70000 {
		l.add(8, 200*bucketLen)
	}
	if l.recent[0] != 0xffff {
		t.Errorf("saturates: %d", l.recent[0])
	}
}
