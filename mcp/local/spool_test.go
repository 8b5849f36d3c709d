package local

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

func record(bridge string) Record {
	return Record{
		Stamp:  Stamp{Bridge: bridge, Slot: 3, Seq: 17},
		SaidAt: time.Date(2026, 7, 28, 12, 0, 0, 123_000_000, time.UTC),
		Tool:   "report_done",
		// Order, repeated keys, escapes and bytes that are no UTF-8 all count.
		Arguments: json.RawMessage("{\"z\":1, \"a\":\"<\\u0041\",\"z\":2,\"x\":\"\xff\"}"),
		Caller:    Caller{Workspace: "api", Stream: "api", Client: `"arguments":null`, Session: "s"},
	}
}

func TestSpoolKeepsEveryByte(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "spool")
	want := record(NewID())
	file, err := Write(dir, want.Stamp.Bridge, 42, want)
	if err != nil {
		t.Fatal(err)
	}
	if file != want.Stamp.Bridge+"-000042.call" {
		t.Errorf("the file is called %s", file)
	}
	got, err := Read(filepath.Join(dir, file))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if runtime.GOOS != "windows" {
		for path, mode := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, file): 0o600} {
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
				t.Errorf("%s: %v, %v; want %v", path, info.Mode(), err, mode)
			}
		}
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("%d files, want the record alone", len(entries))
	}
	if err := Remove(dir, file); err != nil {
		t.Fatal(err)
	}
	if err := Remove(dir, file); err != nil {
		t.Errorf("removing it again: %v", err)
	}
	if left, err := List(dir); len(left) != 0 || err != nil {
		t.Errorf("left: %v, %v", left, err)
	}
}

func TestSpoolRefuses(t *testing.T) {
	id := NewID()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	with := func(f func(*Record)) Record { r := record(id); f(&r); return r }
	for name, c := range map[string]struct {
		dir, bridge string
		n           int
		r           Record
	}{
		"a folder that is a file": {file, id, 1, record(id)},
		"a folder below a file":   {filepath.Join(file, "spool"), id, 1, record(id)},
		"another bridge":          {t.TempDir(), NewID(), 1, record(id)},
		"no bridge":               {t.TempDir(), "../../etc", 1, with(func(r *Record) { r.Stamp.Bridge = "../../etc" })},
		"number 0":                {t.TempDir(), id, 0, record(id)},
		"a seventh digit":         {t.TempDir(), id, 1_000_000, record(id)},
		"arguments of 2 MiB":      {t.TempDir(), id, 1, with(func(r *Record) { r.Arguments = []byte(`{"a":"` + strings.Repeat("x", 2<<20) + `"}`) })},
		"arguments that are none": {t.TempDir(), id, 1, with(func(r *Record) { r.Arguments = []byte(`{`) })},
	} {
		if _, err := Write(c.dir, c.bridge, c.n, c.r); err == nil {
			t.Errorf("%s: was written", name)
		}
		if entries, _ := os.ReadDir(c.dir); len(entries) != 0 {
			t.Errorf("%s: left %v behind", name, entries)
		}
	}
}

func TestSpoolKnowsDamage(t *testing.T) {
	id := NewID()
	whole, err := record(id).encode()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, id+"-000001.call")
	read := func(b []byte) error {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Read(path)
		return err
	}
	for n := range whole {
		if err := read(whole[:n]); !errors.Is(err, ErrBadRecord) {
			t.Fatalf("cut at %d of %d: %v", n, len(whole), err)
		}
	}
	for i := range whole {
		b := bytes.Clone(whole)
		b[i] ^= 1
		if err := read(b); !errors.Is(err, ErrBadRecord) {
			t.Fatalf("a bit of byte %d changed: %v", i, err)
		}
	}
	if err := read(append(bytes.Clone(whole), '\n')); !errors.Is(err, ErrBadRecord) {
		t.Errorf("a line more: %v", err)
	}
	if err := read(bytes.Repeat([]byte{'x'}, MaxSpooled+1<<20)); !errors.Is(err, ErrBadRecord) {
		t.Errorf("a huge file: %v", err)
	}
	if err := read(whole); err != nil {
		t.Errorf("whole: %v", err)
	}
	other := filepath.Join(dir, NewID()+"-000001.call")
	if err := os.Rename(path, other); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(other); !errors.Is(err, ErrBadRecord) {
		t.Errorf("under another bridge's name: %v", err)
	}
}

func TestSpoolOrderAndStrangers(t *testing.T) {
	dir := t.TempDir()
	if files, err := List(filepath.Join(dir, "none")); files != nil || err != nil {
		t.Errorf("of no folder: %v, %v", files, err)
	}
	older := newID(time.Now().Add(-time.Hour))
	newer := NewID()
	var want []string
	for _, x := range []struct {
		id string
		n  int
	}{{newer, 2}, {older, 10}, {newer, 1}, {older, 9}, {older, 100}} {
		file, err := Write(dir, x.id, x.n, record(x.id))
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, file)
	}
	slices.Sort(want)
	for _, name := range []string{"x.call", older + "-1.call", older + "-000000.call", older + "-+00001.call", older + "-000001.tmp", "note.txt", older + "-000001.call.1"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, older+"-000002.call"), 0o700); err != nil {
		t.Fatal(err)
	}
	got, err := List(dir)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v\nwant %v", got, err, want)
	}
	if got[0] != fmt.Sprintf("%s-%06d.call", older, 9) {
		t.Errorf("first is %s", got[0])
	}
	if b, ok := BridgeOf(got[0]); b != older || !ok {
		t.Errorf("its bridge is %s", b)
	}

	var bad []string
	for range 3 { // the same name thrice
		if err := os.WriteFile(filepath.Join(dir, got[0]), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		to, err := Reject(dir, got[0])
		if err != nil {
			t.Fatal(err)
		}
		bad = append(bad, to)
	}
	for _, path := range bad {
		if b, err := os.ReadFile(path); string(b) != "x" || filepath.Dir(path) != filepath.Join(dir, "bad") {
			t.Errorf("%s: %q, %v", path, b, err)
		}
	}
	if left, _ := List(dir); slices.Contains(left, got[0]) {
		t.Error("a rejected file is still listed")
	}

	if err := Tidy(dir, time.Now().Add(-time.Minute)); err != nil {
		t.Fatal(err)
	}
	temp := filepath.Join(dir, older+"-000001.tmp")
	if _, err := os.Stat(temp); err != nil {
		t.Errorf("a fresh temporary file: %v", err)
	}
	if err := Tidy(dir, time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(temp); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an old temporary file: %v", err)
	}
	if left, _ := List(dir); len(left) != len(want)-1 {
		t.Errorf("after tidying: %v", left)
	}
	if err := Tidy(filepath.Join(dir, "none"), time.Now()); err != nil {
		t.Error(err)
	}
}

func FuzzSpoolRecord(f *testing.F) {
	whole, err := record(NewID()).encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole, []byte(`{"a":1}`))
	f.Add([]byte("{}\n"), []byte(`{"arguments":null}`))
	f.Fuzz(func(t *testing.T, file, args []byte) {
		if r, err := decode(file); err == nil {
			again, err := r.encode()
			if err != nil {
				t.Fatalf("a record that was read cannot be written: %v", err)
			}
			if back, err := decode(again); err != nil || !reflect.DeepEqual(back, r) {
				t.Fatalf("%+v came back as %+v, %v", r, back, err)
			}
		} else if !errors.Is(err, ErrBadRecord) {
			t.Fatalf("an error of another kind: %v", err)
		}
		r := record(NewID())
		r.Arguments = args
		b, err := r.encode()
		if err != nil || len(args) == 0 || args[0] != '{' {
			return
		}
		back, err := decode(b)
		if err != nil {
			t.Fatal(err)
		}
		if want := bytes.TrimRight(args, " \t\r\n"); !bytes.Equal(back.Arguments, want) {
			t.Fatalf("arguments %q came back as %q", want, back.Arguments)
		}
	})
}
