//go:build unix

package clients_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// responsesAPI is OpenAI's: POST /responses, streaming.
func responsesAPI(m *model) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /responses", m.responses)
	mux.HandleFunc("/", m.unknown)
	return mux
}

// responsesRequest is the part of a request that matters here.
type responsesRequest struct {
	Tools []responsesTool
	Input []struct {
		Type   string
		Output json.RawMessage
	}
}

// responsesTool is a function, or a namespace of functions.
type responsesTool struct {
	Type, Name, Description string
	Parameters              json.RawMessage
	Tools                   []responsesTool
}

func (m *model) responses(w http.ResponseWriter, r *http.Request) {
	var request responsesRequest
	body, ok := read(w, r, &request)
	if !ok {
		return
	}
	var tools []tool
	for _, t := range request.Tools {
		if t.Type != "namespace" {
			tools = append(tools, tool{Name: t.Name, Description: t.Description, InputSchema: t.Parameters})
			continue
		}
		for _, f := range t.Tools {
			tools = append(tools, tool{Name: t.Name + "__" + f.Name, Description: f.Description, InputSchema: f.Parameters})
		}
	}
	var answers []string
	for _, item := range request.Input {
		if item.Type == "function_call_output" {
			text := plain(item.Output) // after a line on how long it took
			if _, said, ok := strings.Cut(text, "\nOutput:\n"); ok {
				text = said
			}
			answers = append(answers, text)
		}
	}
	item := object{"type": "message", "role": "assistant", "id": "msg_1", "content": []any{object{"type": "output_text", "text": m.words, "annotations": []any{}}}}
	if name, arguments, i, ok := m.turn(body, tools, answers); ok {
		cut := strings.LastIndex(name, "__")
		item = object{"type": "function_call", "id": fmt.Sprintf("fc_%02d", i), "call_id": fmt.Sprintf("call_%02d", i),
			"namespace": name[:cut], "name": name[cut+2:], "arguments": arguments}
	}
	id := fmt.Sprintf("resp_%02d", len(answers))
	s := newStream(w)
	s.send("response.created", object{"type": "response.created", "response": object{"id": id}})
	s.send("response.output_item.done", object{"type": "response.output_item.done", "output_index": 0, "item": item})
	s.send("response.completed", object{"type": "response.completed", "response": object{"id": id, "output": []any{},
		"usage": object{"input_tokens": 100, "output_tokens": 20, "total_tokens": 120}}})
}
