// Command conformance serves what the protocol's conformance suite asks for,
// over Steward's own HTTP door, so that the suite tests the door. It is run by
// .ci/conformance and is no part of Steward.
//
// The suite sends no token. The guard is on all the same: each request is given
// the token on its way to it.
package main

import (
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/mark3labs/mcp-go/server"

	"steward/mcp"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:0", "the `address` to listen on; port 0 takes a free one")
	flag.Parse()
	if err := serve(*addr); err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
}

// serve prints the URL of the fixture as one line and serves until the process
// is ended.
func serve(addr string) error {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	token := mcp.NewToken()
	door := mcp.NewHTTP(mcp.HTTPConfig{
		Server:     mcp.WrapServer(fixture(), log),
		Version:    "0",
		Logger:     log,
		AgentToken: func() string { return token },
		Bound:      l.Addr().String(),
	})
	fmt.Printf("http://%s/mcp\n", l.Addr())
	s := http.Server{
		ReadHeaderTimeout: 10 * time.Second,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.Header.Set("Authorization", "Bearer "+token)
			door.ServeHTTP(w, r)
		}),
	}
	return s.Serve(l)
}

// fixture is a server with everything the suite looks for.
func fixture() *server.MCPServer {
	s := server.NewMCPServer("steward-conformance", "0",
		server.WithToolCapabilities(true),
		server.WithResourceCapabilities(true, true),
		server.WithPromptCapabilities(true),
		server.WithCompletions(),
		server.WithLogging(),
		server.WithElicitation(),
	)
	s.EnableSampling()
	addTools(s)
	addAsking(s)
	addRounds(s)
	addResources(s)
	addPrompts(s)
	return s
}
