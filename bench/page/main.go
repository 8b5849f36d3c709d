// Command page measures the page in a real Chromium: what it weighs, how soon it
// shows a receipt, and how soon it says that the connection is closed.
package main

import (
	"compress/gzip"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"steward/bench/internal/gauge"
	"steward/bench/internal/rig"
	"steward/frontend"
)

const (
	heaviest = 150 << 10 // bytes, gzipped
	soonest  = 0.2       // s from a receipt's acknowledgement to its line on the page
	closed   = 2.0       // s from the service's end to the page's word of it

	warm     = 20
	receipts = 300
	kills    = 5
)

var browser = flag.String("chromium", "chromium", "the browser to measure in")

func main() {
	flag.Parse()
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "page:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) (err error) {
	if !frontend.Built() {
		return errors.New("this program was built before the page: run `make build` first")
	}
	weight, err := weigh(frontend.Page())
	if err != nil {
		return err
	}
	gauge.Print(os.Stdout, gauge.Row{Name: "page: all its files, gzipped", Unit: gauge.Bytes, Ours: gauge.Figure{Name: "they weigh", Value: weight},
		Theirs: gauge.Figure{Name: "limit", Value: heaviest}, Bar: 1, AtMost: true})

	program, err := exec.LookPath(*browser)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "steward-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binary, err := rig.Build(ctx, dir)
	if err != nil {
		return err
	}
	place, err := rig.NewPlace(binary)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, place.Close()) }()
	s, err := serve(ctx, place)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	b, err := startChromium(ctx, program)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	if err := s.open(b); err != nil {
		return err
	}

	took, err := shown(ctx, s, b)
	if err != nil {
		return err
	}
	gauge.Print(os.Stdout,
		gauge.Row{Name: "a receipt, acknowledged, on the page: p50", Unit: gauge.Seconds, Ours: gauge.Figure{Name: "after", Value: gauge.Median(took)},
			Theirs: gauge.Figure{Name: "limit", Value: soonest}, Bar: 1, AtMost: true},
		gauge.Row{Name: "a receipt, acknowledged, on the page: p95", Unit: gauge.Seconds, Ours: gauge.Figure{Name: "after", Value: gauge.Quantile(took, 0.95)},
			Theirs: gauge.Figure{Name: "limit", Value: soonest}, Bar: 1, AtMost: true})

	said, err := told(ctx, s, b)
	if err != nil {
		return err
	}
	gauge.Print(os.Stdout, gauge.Row{Name: "a closed connection, said: the slowest of " + fmt.Sprint(kills), Unit: gauge.Seconds,
		Ours: gauge.Figure{Name: "after", Value: gauge.Quantile(said, 1)}, Theirs: gauge.Figure{Name: "limit", Value: closed}, Bar: 1, AtMost: true})
	return nil
}

// weigh returns how many bytes the files of the page take on the wire.
func weigh(page fs.FS) (float64, error) {
	var total counter
	err := fs.WalkDir(page, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(page, path)
		if err != nil {
			return err
		}
		z, err := gzip.NewWriterLevel(&total, gzip.BestCompression)
		if err != nil {
			return err
		}
		if _, err := z.Write(content); err != nil {
			return err
		}
		return z.Close()
	})
	return float64(total), err
}

type counter int

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

// service is `steward serve` with its page, on the same port for all its lives.
type service struct {
	place   *rig.Place
	address string
	cmd     *exec.Cmd
}

// serve starts one on a port that was free a moment ago.
func serve(ctx context.Context, place *rig.Place) (*service, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		return nil, err
	}
	s := &service{place: place, address: address}
	return s, s.start(ctx)
}

func (s *service) start(ctx context.Context) error {
	s.cmd = s.place.Command("serve", "--listen", s.address)
	if err := s.cmd.Start(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.address+"/healthz", nil)
		if err != nil {
			return err
		}
		if a, err := http.DefaultClient.Do(r); err == nil {
			a.Body.Close()
			if a.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("no service at %s", s.address), s.cmd.Process.Kill())
		case <-tick.C:
		}
	}
}

// kill ends the service at once and returns when that was.
func (s *service) kill() (time.Time, error) {
	at := time.Now()
	if err := s.cmd.Process.Kill(); err != nil {
		return at, err
	}
	_ = s.cmd.Wait() // killed, as it should be
	return at, nil
}

func (s *service) stop() error {
	if s.cmd.ProcessState != nil {
		return nil
	}
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	return s.cmd.Wait()
}

// watch makes the page say each new line of Brief, and the banner of a lost
// connection, once the frame that shows it has been made.
const watch = `(() => {
  let line = '', banner = ''
  const after = (text) => requestAnimationFrame(() => { const c = new MessageChannel(); c.port1.onmessage = () => say(text); c.port2.postMessage(0) })
  const look = () => {
    const l = document.querySelector('main [data-row^="event-"] .main')?.textContent ?? ''
    if (l !== line) after('line ' + (line = l))
    const b = document.querySelector('.banner') ? 'closed' : 'open'
    if (b !== banner) after(banner = b)
  }
  new MutationObserver(look).observe(document.body, { childList: true, subtree: true, characterData: true })
  look()
})()`

// open signs the page in by its token and waits until it follows the ledger.
func (s *service) open(b *chromium) error {
	token, err := os.ReadFile(filepath.Join(s.place.Dir, "token"))
	if err != nil {
		return err
	}
	home := "http://" + s.address + "/"
	arrive := fmt.Sprintf("localStorage.setItem('steward.token', %q)", strings.TrimSpace(string(token)))
	if err := b.do("Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": arrive}, nil); err != nil {
		return err
	}
	if err := b.do("Page.navigate", map[string]any{"url": home}, nil); err != nil {
		return err
	}
	if err := b.run(`new Promise((done) => {
  const look = () => document.querySelector('main h2') ? done() : requestAnimationFrame(look)
  look()
})`); err != nil {
		return err
	}
	return b.run(watch)
}

// shown reports receipts one by one, and returns how long after each one's
// acknowledgement the frame with its line was made.
func shown(ctx context.Context, s *service, b *chromium) ([]float64, error) {
	c, err := rig.Dial(ctx, s.place.Socket, s.place.Key(), "bench", true)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if err := c.Initialize(); err != nil {
		return nil, err
	}
	var took []float64
	for i := range warm + receipts {
		outcome := fmt.Sprintf("receipt %d", i)
		if _, err := c.Call("report_done", fmt.Appendf(nil, `{"actor":"bench","outcome":%q}`, outcome)); err != nil {
			return nil, err
		}
		acknowledged := time.Now()
		at, err := b.hear("line bench "+outcome, patience)
		if err != nil {
			return nil, err
		}
		if i >= warm {
			took = append(took, max(0, at.Sub(acknowledged).Seconds())) // it may be shown before we read the answer
		}
	}
	return took, nil
}

// told kills the service time and again, and returns how long each time the page
// took to say so.
func told(ctx context.Context, s *service, b *chromium) ([]float64, error) {
	var took []float64
	for range kills {
		from, err := s.kill()
		if err != nil {
			return nil, err
		}
		at, err := b.hear("closed", patience)
		if err != nil {
			return nil, err
		}
		took = append(took, at.Sub(from).Seconds())
		if err := s.start(ctx); err != nil {
			return nil, err
		}
		if _, err := b.hear("open", patience); err != nil {
			return nil, err
		}
	}
	return took, nil
}
