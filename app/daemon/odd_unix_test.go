//go:build unix

package daemon

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestSettingsStayWhenAPipeComesInTheirPlace(t *testing.T) {
	p := place(t)
	if err := p.Make(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p.Config, []byte(`{"targets":["one"]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	s := NewSettings(p.Config, nil)
	now := time.Now()
	s.now = func() time.Time { return now }
	if err := os.Remove(p.Config); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(p.Config, 0o600); err != nil {
		t.Fatal(err)
	}
	now = now.Add(2 * lookEvery)
	got := make(chan []string, 1)
	go func() { got <- s.Targets() }()
	select {
	case targets := <-got:
		if len(targets) != 1 || targets[0] != "one" {
			t.Errorf("targets %v; want the last good ones", targets)
		}
	case <-time.After(patience):
		t.Fatal("the settings wait for the pipe's other end")
	}
	if err := s.Problem(); err == nil || !strings.Contains(err.Error(), "it is a named pipe, not a plain file") {
		t.Errorf("problem: %v", err)
	}
}
