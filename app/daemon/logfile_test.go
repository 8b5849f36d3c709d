package daemon

import (
	"bufio"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestLogFileIsLazy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "logs", "steward.log")
	l := NewLogFile(path)
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Dir(path)); !os.IsNotExist(err) {
		t.Errorf("the folder is there before the first line: %v", err)
	}
}

// Several writers, as several processes would: each with its own open file.
func TestLogFileSetAside(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "steward.log")
	const writers, lines, size = 4, 500, 8 << 10
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			l := NewLogFile(path)
			l.size = size
			defer l.Close() //nolint:errcheck // a test of writing
			for i := range lines {
				if _, err := fmt.Fprintf(l, "%d %06d %s\n", w, i, strings.Repeat("x", 20)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	files, err := filepath.Glob(path + "*")
	if err != nil {
		t.Fatal(err)
	}
	kept := 0
	for _, f := range files {
		if strings.HasSuffix(f, ".lock") {
			continue
		}
		kept++
		fi, err := os.Stat(f)
		if err != nil {
			t.Fatal(err)
		}
		if fi.Size() > 2*size {
			t.Errorf("%s has %d bytes; want about %d", f, fi.Size(), size)
		}
		if fi.Mode().Perm()&0o077 != 0 && filepath.Separator == '/' {
			t.Errorf("%s has mode %v", f, fi.Mode())
		}
		file, err := os.Open(f)
		if err != nil {
			t.Fatal(err)
		}
		for sc := bufio.NewScanner(file); sc.Scan(); {
			if line := sc.Text(); len(line) != 29 {
				t.Errorf("%s: a torn line %q", f, line)
			}
		}
		_ = file.Close() // opened for reading
	}
	if kept != logFiles {
		t.Errorf("%d files are kept; want %d: %v", kept, logFiles, files)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, os.ErrClosed }

func TestLoggerGoesOnWithoutOneOfItsWriters(t *testing.T) {
	var b strings.Builder
	level := new(slog.LevelVar)
	log := NewLogger(level, broken{}, &b, false)
	log.Debug("quiet")
	level.Set(slog.LevelDebug)
	log.Debug("loud", "n", 1)
	got := b.String()
	if strings.Contains(got, "quiet") || !strings.Contains(got, "loud") || !strings.Contains(got, "process=") || !strings.Contains(got, "Z ") {
		t.Errorf("%q; want the second record alone, with pid and UTC time", got)
	}
}
