package rig

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strconv"

	"steward/ledger"
	"steward/mcp/local"
)

// Conn is one MCP conversation in which every request is answered before the
// next is sent. It reads no more of an answer than it must, so that a load
// measures the service and not its client. It is not safe for use by several
// goroutines at once.
type Conn struct {
	io.Closer
	in    *bufio.Reader
	out   io.Writer
	line  []byte
	id    uint64
	stamp bool // stamp calls as a bridge does
}

func newConn(in io.Reader, out io.Writer, c io.Closer) *Conn {
	return &Conn{Closer: c, in: bufio.NewReaderSize(in, 64<<10), out: out}
}

// Dial connects to the service at address as the bridge of a workspace does and
// waits until it serves. Calls made through it are stamped when stamped is set.
func Dial(ctx context.Context, address, ledgerHash, stream string, stamped bool) (*Conn, error) {
	nc, err := local.Dial(ctx, address)
	if err != nil {
		return nil, err
	}
	c := newConn(nc, nc, nc)
	c.stamp = stamped
	hello := local.Hello{Role: local.RoleBridge, ID: local.NewID(), Version: Version, Schema: ledger.SchemaVersion, PID: os.Getpid(),
		Ledger: ledgerHash, Workspace: "/home/a/" + stream, Stream: stream, Client: "bench 1", Era: "2025-06-18"}
	if err := c.greet(hello); err != nil {
		nc.Close()
		return nil, err
	}
	return c, nil
}

// greet says hello and waits until the service serves.
func (c *Conn) greet(hello local.Hello) error {
	if err := local.WriteLine(c.out, local.Line{Hello: &hello}); err != nil {
		return err
	}
	for {
		line, err := local.ReadLine(c.in)
		switch {
		case err != nil:
			return fmt.Errorf("no welcome: %w", err)
		case line.Refused != nil:
			return line.Refused
		case line.Welcome != nil && line.Welcome.State == local.StateServing:
			return nil
		}
	}
}

// Initialize opens the conversation as clients of 2025-06-18 do.
func (c *Conn) Initialize() error {
	if _, err := c.Request("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}`); err != nil {
		return err
	}
	_, err := io.WriteString(c.out, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	return err
}

// Request sends one request and returns the line that answers it, which is valid
// until the next one. An error result is an error.
func (c *Conn) Request(method, params string) ([]byte, error) {
	c.id++
	c.line = append(c.line[:0], `{"jsonrpc":"2.0","id":`...)
	c.line = strconv.AppendUint(c.line, c.id, 10)
	c.line = append(c.line, `,"method":"`...)
	c.line = append(c.line, method...)
	c.line = append(c.line, `","params":`...)
	c.line = append(c.line, params...)
	return c.send()
}

// Call calls a tool and returns the line that answers it, which is valid until
// the next one. A tool error is an error too.
func (c *Conn) Call(tool string, args []byte) ([]byte, error) {
	c.id++
	c.line = append(c.line[:0], `{"jsonrpc":"2.0","id":`...)
	c.line = strconv.AppendUint(c.line, c.id, 10)
	c.line = append(c.line, `,"method":"tools/call","params":{"name":"`...)
	c.line = append(c.line, tool...)
	c.line = append(c.line, `","arguments":`...)
	c.line = append(c.line, args...)
	if c.stamp {
		c.line = append(c.line, `,"_meta":{"steward/stamp":{"slot":0,"seq":`...)
		c.line = strconv.AppendUint(c.line, c.id, 10)
		c.line = append(c.line, `}}`...)
	}
	c.line = append(c.line, '}')
	return c.send()
}

func (c *Conn) send() ([]byte, error) {
	c.line = append(c.line, "}\n"...)
	if _, err := c.out.Write(c.line); err != nil {
		return nil, err
	}
	for {
		line, err := c.read()
		if err != nil {
			return nil, err
		}
		// The client never names a method, so a line that does is a notification.
		if bytes.Contains(line[:min(len(line), 64)], []byte(`"method"`)) {
			continue
		}
		if bytes.Contains(line, []byte(`"isError":true`)) || !bytes.Contains(line, []byte(`"result"`)) {
			return nil, fmt.Errorf("%.120s: %.400s", c.line, line)
		}
		return line, nil
	}
}

func (c *Conn) read() ([]byte, error) {
	line, err := c.in.ReadSlice('\n')
	if err != bufio.ErrBufferFull {
		return line, err
	}
	whole := bytes.Clone(line)
	for err == bufio.ErrBufferFull {
		line, err = c.in.ReadSlice('\n')
		whole = append(whole, line...)
	}
	return whole, err
}

// HandoffID returns the first handoff id in an answer.
func HandoffID(line []byte) (string, error) {
	const form = "hnd_01ARZ3NDEKTSV4RRFFQ69G5FAV"
	at := bytes.Index(line, []byte("hnd_"))
	if at < 0 || len(line) < at+len(form) {
		return "", fmt.Errorf("no handoff id in %.400s", line)
	}
	return string(line[at : at+len(form)]), nil
}
