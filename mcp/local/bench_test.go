//go:build unix

package local

import (
	"bufio"
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// echo is the cheapest service: one fixed answer for each line.
func echo(b *testing.B) string {
	address := filepath.Join(b.TempDir(), "s")
	ln, err := net.Listen("unix", address)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { ln.Close() })
	answer := []byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"` + strings.Repeat("x", 200) + `"}]}}` + "\n")
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				r := bufio.NewReader(c)
				if _, err := ReadLine(r); err != nil {
					return
				}
				WriteLine(c, Line{Welcome: &Welcome{State: StateServing}})
				for {
					if _, err := r.ReadSlice('\n'); err != nil {
						return
					}
					if _, err := c.Write(answer); err != nil {
						return
					}
				}
			}()
		}
	}()
	return address
}

// What a call costs straight through the socket, and through a bridge process
// in between: the difference is the bridge's latency.
func BenchmarkCall(b *testing.B) {
	call := []byte(report(1, strings.Repeat("x", 100)) + "\n")
	b.Run("direct", func(b *testing.B) {
		c, err := Dial(context.Background(), echo(b))
		if err != nil {
			b.Fatal(err)
		}
		defer c.Close()
		r := bufio.NewReader(c)
		WriteLine(c, Line{Hello: &Hello{Role: RoleBridge, ID: NewID()}})
		if _, err := ReadLine(r); err != nil {
			b.Fatal(err)
		}
		roundTrips(b, c, r, call)
	})
	b.Run("bridge", func(b *testing.B) {
		cmd := child(b, "bridge", "ADDRESS="+echo(b), "SPOOL="+b.TempDir())
		in, err := cmd.StdinPipe()
		if err != nil {
			b.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			b.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		roundTrips(b, in, bufio.NewReader(out), call)
		if kb := resident(cmd.Process.Pid); kb > 0 {
			b.ReportMetric(float64(kb)/1024, "MB-resident")
		}
		in.Close()
		if err := cmd.Wait(); err != nil {
			b.Fatal(err)
		}
		used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		b.ReportMetric(float64(used.Microseconds())/float64(b.N), "bridge-µs/op")
	})
}

func roundTrips(b *testing.B, w io.Writer, r *bufio.Reader, line []byte) {
	b.Helper()
	for b.Loop() {
		if _, err := w.Write(line); err != nil {
			b.Fatal(err)
		}
		if _, err := r.ReadSlice('\n'); err != nil {
			b.Fatal(err)
		}
	}
}

// resident is a process's memory in KB, 0 where it cannot be read.
func resident(pid int) (kb int) {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			for _, c := range rest {
				if c >= '0' && c <= '9' {
					kb = kb*10 + int(c-'0')
				}
			}
		}
	}
	return kb
}

func BenchmarkParse(b *testing.B) {
	line := []byte(report(1, strings.Repeat("x", 100)))
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		if _, bad := parse(line); bad != nil {
			b.Fatal(bad.text)
		}
	}
}
