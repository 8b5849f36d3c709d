//go:build unix

package clients_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// model plays a language model that has made up its mind: one tool call a
// turn, in the order of its script, then a sentence. It speaks through the
// API of one vendor; see messagesAPI, responsesAPI and generateAPI.
type model struct {
	script []call
	words  string // said at the end

	mu      sync.Mutex
	tools   []tool   // as the client last showed them to the model
	request string   // the client's last that showed the tools
	answers []string // to the calls of the script, as the client showed them
	strange []string // requests that are none of the API's
}

// turn takes one request, with the tools and the answers so far that are in it,
// and says what to do: call the i-th of the script under the client's name for
// that tool, or, with ok false, say the words. A request without the script's tools
// is one of the client's own, for a title perhaps.
func (m *model) turn(request []byte, tools []tool, answers []string) (name, arguments string, i int, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(answers) < len(m.answers) {
		return "", "", 0, false
	}
	i = len(answers)
	next := i < len(m.script)
	if next {
		if name = named(tools, m.script[i].tool); name == "" {
			return "", "", 0, false
		}
	}
	m.request, m.tools, m.answers = string(request), tools, answers
	if !next {
		return "", "", 0, false
	}
	return name, m.script[i].arguments, i, true
}

// named is the client's own name for one of Steward's tools.
func named(tools []tool, name string) string {
	for _, t := range tools {
		if t.Name == name || strings.HasSuffix(t.Name, "_"+name) && strings.Contains(t.Name, "steward") {
			return t.Name
		}
	}
	return ""
}

func (m *model) unknown(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.strange = append(m.strange, r.Method+" "+r.URL.Path)
	http.NotFound(w, r)
}

// shown returns Steward's tools as the model saw them, under their own names.
func (m *model) shown(prefix string) (own []tool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, t := range m.tools {
		if name, ok := strings.CutPrefix(t.Name, prefix); ok {
			t.Name = name
			own = append(own, t)
		}
	}
	return own
}

// seen returns the answers to the script's calls.
func (m *model) seen() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.answers
}

// told returns the whole of the client's last request.
func (m *model) told() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.request
}

// serve gives the model an address on the loopback interface.
func (m *model) serve(t *testing.T, api func(*model) http.Handler) string {
	t.Helper()
	s := httptest.NewServer(api(m))
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
		m.mu.Lock()
		defer m.mu.Unlock()
		if t.Failed() {
			t.Logf("the model was shown %d tools and the answers %q; other requests: %q", len(m.tools), m.answers, m.strange)
		}
	})
	return s.URL
}

// stream writes server-sent events.
type stream struct{ w http.ResponseWriter }

func newStream(w http.ResponseWriter) stream {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	return stream{w}
}

// send writes one event at once; an empty name is left out.
func (s stream) send(name string, data any) {
	text, err := json.Marshal(data)
	if err != nil {
		panic(err) // the caller's literal
	}
	if name != "" {
		fmt.Fprintf(s.w, "event: %s\n", name)
	}
	fmt.Fprintf(s.w, "data: %s\n\n", text)
	s.w.(http.Flusher).Flush()
}

// read takes a request's body, answering the client itself when that is not
// what the API takes.
func read(w http.ResponseWriter, r *http.Request, into any) (body []byte, ok bool) {
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, into)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return nil, false
	}
	return body, true
}

// object is a JSON object.
type object = map[string]any
