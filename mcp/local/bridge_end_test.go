package local

import (
	"context"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A client that has closed its end and reads no answers must not keep a bridge
// for ever.
func TestBridgeEndsThoughNobodyReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		out, client := net.Pipe() // nobody reads from client
		began := time.Now()
		err := RunBridge(context.Background(), BridgeConfig{
			In: strings.NewReader(report(1, "one") + "\n"), Out: out, Spool: t.TempDir(), Dial: f.dial,
		})
		if took := time.Since(began); err != nil || took < takerPatience || took > lossPatience+2*takerPatience {
			t.Errorf("ended after %v with %v", took, err)
		}
		client.Close()
		f.setUp(false)
	})
}
