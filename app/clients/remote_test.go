//go:build unix

package clients_test

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// remote starts a service with HTTP and is how mcp-remote, which plays a
// server on standard input and output, reaches it with the agent token.
func remote(h *house) (string, []string) {
	h.t.Helper()
	url, token := h.listen()
	headers := h.write("headers.txt", "Authorization: Bearer "+token+"\n")
	path := filepath.Join(os.Getenv(folderVar), "node_modules", ".bin", "mcp-remote")
	return path, []string{url + "/mcp/" + workspace, "--header-file", headers, "--transport", "http-only"}
}

// listen runs `steward serve` with HTTP on the loopback interface until the
// test ends, and returns its address and the token for agents.
func (h *house) listen() (url, token string) {
	h.t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		h.t.Fatal(err)
	}
	address := free.Addr().String()
	free.Close()

	cmd := h.command(context.Background(), program, "serve", "--listen", address)
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	h.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		if err := <-ended; err != nil || h.t.Failed() {
			h.t.Logf("steward serve: %v\n%s", err, &said)
		}
	})
	h.eventually("GET /healthz", func() bool {
		answer, err := http.Get("http://" + address + "/healthz")
		if err != nil {
			return false
		}
		answer.Body.Close()
		return answer.StatusCode == http.StatusOK
	})
	text, err := os.ReadFile(filepath.Join(h.state(), "agent-token"))
	if err != nil {
		h.t.Fatal(err)
	}
	return "http://" + address, strings.TrimSpace(string(text))
}

// eventually polls another process until ok.
func (h *house) eventually(what string, ok func() bool) {
	h.t.Helper()
	for limit := time.Now().Add(30 * time.Second); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(limit) {
			h.t.Fatalf("%s did not succeed within 30 s", what)
		}
	}
}
