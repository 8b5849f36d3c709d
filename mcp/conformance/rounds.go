package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	lib "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"steward/mcp"
)

// key signs the state that goes to the client and back.
var key = []byte(mcp.NewToken())

func sign(state string) string {
	m := hmac.New(sha256.New, key)
	m.Write([]byte(state))
	return state + "." + hex.EncodeToString(m.Sum(nil))
}

// signed returns the state that sign was given.
func signed(s string) (string, error) {
	state, _, _ := strings.Cut(s, ".")
	if !hmac.Equal([]byte(sign(state)), []byte(s)) {
		return "", errors.New("requestState: not what was given out")
	}
	return state, nil
}

// addRounds adds the tools that ask the client by ending a call with questions,
// as is done since 2026-07-28; it calls again with the answers.
func addRounds(s *server.MCPServer) {
	text, truth := object{"type": "string"}, object{"type": "boolean"}
	name := form("What is your name?", object{"name": text}, "name")
	confirm := form("Please confirm", object{"ok": truth}, "ok")

	hello := func(_ context.Context, r lib.CallToolRequest) (*lib.CallToolResult, error) {
		if who, ok := field[string](r.Params.InputResponses, "user_name", "name"); ok {
			return lib.NewToolResultText("Hello, " + who + "!"), nil
		}
		return server.NewInputRequestBuilder("").Elicit("user_name", name).ToolResult(), nil
	}
	add(s, "test_input_required_result_elicitation", "Asks for a name.", hello)
	add(s, "test_streaming_elicitation", "Asks for a name.", hello)

	add(s, "test_input_required_result_sampling", "Asks the client's model.", func(_ context.Context, r lib.CallToolRequest) (*lib.CallToolResult, error) {
		if a := server.SamplingResponse(r.Params.InputResponses, "capital_question"); a != nil {
			return lib.NewToolResultText(fmt.Sprintf("LLM response: %v", a.Content)), nil
		}
		return server.NewInputRequestBuilder("").Sample("capital_question", question("What is the capital of France?", 100)).ToolResult(), nil
	})
	add(s, "test_input_required_result_list_roots", "Asks for roots.", func(_ context.Context, r lib.CallToolRequest) (*lib.CallToolResult, error) {
		if a := server.RootsResponse(r.Params.InputResponses, "client_roots"); a != nil {
			return lib.NewToolResultText(fmt.Sprintf("roots: %v", a.Roots)), nil
		}
		return server.NewInputRequestBuilder("").Roots("client_roots").ToolResult(), nil
	})
	add(s, "test_input_required_result_multiple_inputs", "Asks for three things.", func(_ context.Context, r lib.CallToolRequest) (*lib.CallToolResult, error) {
		in := r.Params.InputResponses
		if server.ElicitationResponse(in, "user_name") != nil && server.SamplingResponse(in, "greeting") != nil && server.RootsResponse(in, "client_roots") != nil {
			if _, err := signed(r.Params.RequestState); err != nil {
				return nil, err
			}
			return lib.NewToolResultText("all three are there"), nil
		}
		return server.NewInputRequestBuilder(sign("three")).Elicit("user_name", name).
			Sample("greeting", question("Generate a greeting", 50)).Roots("client_roots").ToolResult(), nil
	})

	stateful := func(_ context.Context, r lib.CallToolRequest) (*lib.CallToolResult, error) {
		if _, ok := server.InputResponse(r.Params.InputResponses, "confirm"); !ok {
			return server.NewInputRequestBuilder(sign("confirm")).Elicit("confirm", confirm).ToolResult(), nil
		}
		if _, err := signed(r.Params.RequestState); err != nil {
			return nil, err
		}
		return lib.NewToolResultText("state-ok"), nil
	}
	add(s, "test_input_required_result_request_state", "Asks, and wants its state back.", stateful)
	add(s, "test_input_required_result_tampered_state", "Asks, and wants its state back as it was.", stateful)

	add(s, "test_input_required_result_multi_round", "Asks twice.", func(_ context.Context, r lib.CallToolRequest) (*lib.CallToolResult, error) {
		state := "none"
		if r.Params.RequestState != "" {
			var err error
			if state, err = signed(r.Params.RequestState); err != nil {
				return nil, err
			}
		}
		_, one := server.InputResponse(r.Params.InputResponses, "step1")
		_, two := server.InputResponse(r.Params.InputResponses, "step2")
		switch {
		case two && state == "two":
			return lib.NewToolResultText("done"), nil
		case one && state == "one":
			return server.NewInputRequestBuilder(sign("two")).
				Elicit("step2", form("Step 2: What is your favorite color?", object{"color": text}, "color")).ToolResult(), nil
		}
		return server.NewInputRequestBuilder(sign("one")).
			Elicit("step1", form("Step 1: What is your name?", object{"name": text}, "name")).ToolResult(), nil
	})

	add(s, "test_input_required_result_capabilities", "Asks what the client can answer.", func(ctx context.Context, _ lib.CallToolRequest) (*lib.CallToolResult, error) {
		b := server.NewInputRequestBuilder(sign("can"))
		if info := server.RequestProtocolInfoFromContext(ctx); info != nil && info.ClientCapabilities != nil {
			if info.ClientCapabilities.Sampling != nil {
				b.Sample("sample", question("Say something", 50))
			}
			if info.ClientCapabilities.Elicitation != nil {
				b.Elicit("ask", confirm)
			}
		}
		return b.ToolResult(), nil
	})
	add(s, "test_missing_capability", "Needs the client's model.", func(ctx context.Context, _ lib.CallToolRequest) (*lib.CallToolResult, error) {
		if info := server.RequestProtocolInfoFromContext(ctx); info != nil && (info.ClientCapabilities == nil || info.ClientCapabilities.Sampling == nil) {
			return nil, lib.MissingRequiredClientCapabilityError{Capability: "sampling"}
		}
		return lib.NewToolResultText("ok"), nil
	})

	s.AddPrompt(lib.NewPrompt("test_input_required_result_prompt", lib.WithPromptDescription("Asks for a context.")),
		func(_ context.Context, r lib.GetPromptRequest) (*lib.GetPromptResult, error) {
			if with, ok := field[string](r.Params.InputResponses, "user_context", "context"); ok {
				return user(lib.NewTextContent("Context: " + with)), nil
			}
			return server.NewInputRequestBuilder("").
				Elicit("user_context", form("What context should the prompt use?", object{"context": text}, "context")).PromptResult(), nil
		})
}

// field is one field of a form that the user has filled in.
func field[T any](in lib.InputResponses, id, name string) (value T, ok bool) {
	a := server.ElicitationResponse(in, id)
	if a == nil || a.Action != lib.ElicitationResponseActionAccept {
		return value, false
	}
	filled, _ := a.Content.(map[string]any)
	value, ok = filled[name].(T)
	return value, ok
}
