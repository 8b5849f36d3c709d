//go:build unix

package clients_test

import (
	"encoding/json"
	"net/http"
	"strings"
)

// generateAPI is Google's: POST /v1beta/models/NAME:streamGenerateContent and
// :generateContent.
func generateAPI(m *model) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1beta/models/{verb}", m.generate)
	mux.HandleFunc("/", m.unknown)
	return mux
}

// generateRequest is the part of a request that matters here.
type generateRequest struct {
	Tools []struct {
		Functions []struct {
			Name        string
			Description string
			Schema      json.RawMessage `json:"parametersJsonSchema"`
		} `json:"functionDeclarations"`
	}
	Contents []struct {
		Parts []struct {
			Response *struct {
				Response struct{ Output, Error string }
			} `json:"functionResponse"`
		}
	}
}

func (m *model) generate(w http.ResponseWriter, r *http.Request) {
	var request generateRequest
	body, ok := read(w, r, &request)
	if !ok {
		return
	}
	var tools []tool
	for _, t := range request.Tools {
		for _, f := range t.Functions {
			tools = append(tools, tool{Name: f.Name, Description: f.Description, InputSchema: f.Schema})
		}
	}
	var answers []string
	for _, c := range request.Contents {
		for _, p := range c.Parts {
			if p.Response != nil {
				text := p.Response.Response.Output + p.Response.Response.Error // there is one of them
				// Gemini CLI puts results between tags.
				text = strings.TrimSuffix(strings.TrimPrefix(text, "<untrusted_context>"), "</untrusted_context>")
				answers = append(answers, strings.TrimSpace(text))
			}
		}
	}
	part := object{"text": m.words}
	if name, arguments, _, ok := m.turn(body, tools, answers); ok {
		part = object{"functionCall": object{"name": name, "args": json.RawMessage(arguments)}}
	}
	reply := object{
		"candidates":    []any{object{"content": object{"role": "model", "parts": []any{part}}, "finishReason": "STOP", "index": 0}},
		"usageMetadata": object{"promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120},
	}
	if strings.HasSuffix(r.PathValue("verb"), ":streamGenerateContent") {
		newStream(w).send("", reply)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(reply)
}
