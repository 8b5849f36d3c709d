//go:build unix

package clients_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// messagesAPI is Anthropic's: POST /v1/messages, streaming.
func messagesAPI(m *model) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages", m.messages)
	mux.HandleFunc("POST /v1/messages/count_tokens", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"input_tokens":100}`)
	})
	mux.HandleFunc("/", m.unknown)
	return mux
}

// messagesRequest is the part of a request that matters here.
type messagesRequest struct {
	Model  string `json:"model"`
	Stream bool   `json:"stream"`
	Tools  []struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		InputSchema json.RawMessage `json:"input_schema"`
	} `json:"tools"`
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
}

func (r *messagesRequest) tools() (all []tool) {
	for _, t := range r.Tools {
		all = append(all, tool{Name: t.Name, Description: t.Description, InputSchema: t.InputSchema})
	}
	return all
}

// answers are the tool results, in the order of their calls.
func (r *messagesRequest) answers() (all []string) {
	for _, message := range r.Messages {
		var blocks []struct {
			Type    string          `json:"type"`
			Content json.RawMessage `json:"content"`
		}
		if json.Unmarshal(message.Content, &blocks) != nil {
			continue // a message may be one text
		}
		for _, b := range blocks {
			if b.Type == "tool_result" {
				all = append(all, plain(b.Content))
			}
		}
	}
	return all
}

// plain is the text of a content that is one text or a list of blocks.
func plain(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var blocks []struct{ Text string }
	if json.Unmarshal(content, &blocks) != nil {
		return string(content)
	}
	var parts []string
	for _, b := range blocks {
		parts = append(parts, b.Text)
	}
	return strings.Join(parts, "\n")
}

func (m *model) messages(w http.ResponseWriter, r *http.Request) {
	var request messagesRequest
	body, ok := read(w, r, &request)
	if !ok {
		return
	}
	name, arguments, i, ok := m.turn(body, request.tools(), request.answers())
	block := object{"type": "text", "text": ""}
	delta := object{"type": "text_delta", "text": m.words}
	reason := "end_turn"
	if ok {
		block = object{"type": "tool_use", "id": fmt.Sprintf("toolu_%02d", i), "name": name, "input": object{}}
		delta = object{"type": "input_json_delta", "partial_json": arguments}
		reason = "tool_use"
	}
	message := object{"id": fmt.Sprintf("msg_%02d", i), "type": "message", "role": "assistant", "model": request.Model,
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": object{"input_tokens": 100, "output_tokens": 1}}
	if !request.Stream { // some of a client's own requests
		message["content"], message["stop_reason"] = []any{object{"type": "text", "text": m.words}}, "end_turn"
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(message)
		return
	}
	s := newStream(w)
	s.send("message_start", object{"type": "message_start", "message": message})
	s.send("content_block_start", object{"type": "content_block_start", "index": 0, "content_block": block})
	s.send("ping", object{"type": "ping"})
	s.send("content_block_delta", object{"type": "content_block_delta", "index": 0, "delta": delta})
	s.send("content_block_stop", object{"type": "content_block_stop", "index": 0})
	s.send("message_delta", object{"type": "message_delta", "delta": object{"stop_reason": reason, "stop_sequence": nil}, "usage": object{"output_tokens": 20}})
	s.send("message_stop", object{"type": "message_stop"})
}
