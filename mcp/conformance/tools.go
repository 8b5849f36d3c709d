package main

import (
	"context"
	"encoding/json"
	"sync"

	lib "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"steward/mcp"
)

// The smallest picture and sound that are one.
const (
	pixel   = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
	silence = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA=="
)

// noArguments is the schema of most tools here.
var noArguments = json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`)

// schema2020 uses the words of JSON Schema 2020-12 that lists tend to lose.
var schema2020 = json.RawMessage(`{
	"$schema": "https://json-schema.org/draft/2020-12/schema",
	"type": "object",
	"$defs": {"address": {"$anchor": "addressDef", "type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
	"properties": {
		"name": {"type": "string"},
		"address": {"$ref": "#/$defs/address"},
		"contactMethod": {"type": "string", "enum": ["phone", "email"]},
		"phone": {"type": "string"},
		"email": {"type": "string"}
	},
	"allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
	"if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
	"then": {"required": ["phone"]},
	"else": {"required": ["email"]},
	"additionalProperties": false
}`)

// add adds a tool without arguments.
func add(s *server.MCPServer, name, text string, run server.ToolHandlerFunc) {
	s.AddTool(lib.NewToolWithRawSchema(name, text, noArguments), run)
}

// gives is a tool that always gives the same.
func gives(content ...lib.Content) server.ToolHandlerFunc {
	return func(context.Context, lib.CallToolRequest) (*lib.CallToolResult, error) {
		return &lib.CallToolResult{Content: content}, nil
	}
}

func text(s string) lib.Content { return lib.NewTextContent(s) }

func resource(uri, kind, body string) lib.Content {
	return lib.NewEmbeddedResource(lib.TextResourceContents{URI: uri, MIMEType: kind, Text: body})
}

func addTools(s *server.MCPServer) {
	add(s, "test_simple_text", "Gives text.", gives(text("This is a simple text response for testing.")))
	add(s, "test_image_content", "Gives a picture.", gives(lib.NewImageContent(pixel, "image/png")))
	add(s, "test_audio_content", "Gives a sound.", gives(lib.NewAudioContent(silence, "audio/wav")))
	add(s, "test_embedded_resource", "Gives a resource.",
		gives(resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")))
	add(s, "test_multiple_content_types", "Gives text, a picture and a resource.", gives(text("Multiple content types test:"),
		lib.NewImageContent(pixel, "image/png"), resource("test://mixed-content-resource", "application/json", `{"test":"data","value":123}`)))
	add(s, "test_error_handling", "Fails.", func(context.Context, lib.CallToolRequest) (*lib.CallToolResult, error) {
		return lib.NewToolResultError("This tool intentionally returns an error for testing"), nil
	})
	s.AddTool(lib.NewToolWithRawSchema("json_schema_2020_12_tool", "Has a schema with many words.", schema2020), gives(text("ok")))

	add(s, "test_tool_with_progress", "Reports progress.", progress)
	add(s, "test_tool_with_logging", "Logs.", logging)
	add(s, "test_logging_tool", "Logs.", logging)

	add(s, "test_trigger_tool_change", "Changes the list of tools.", toggle(
		func() { add(s, "test_changing", "Comes and goes.", gives(text("ok"))) },
		func() { s.DeleteTools("test_changing") }))
	add(s, "test_trigger_prompt_change", "Changes the list of prompts.", toggle(
		func() {
			s.AddPrompt(lib.NewPrompt("test_changing", lib.WithPromptDescription("Comes and goes.")), says(text("ok")))
		},
		func() { s.DeletePrompts("test_changing") }))
}

// toggle is a tool that does one thing, then the other, in turn.
func toggle(on, off func()) server.ToolHandlerFunc {
	var mu sync.Mutex
	is := false
	return func(context.Context, lib.CallToolRequest) (*lib.CallToolResult, error) {
		mu.Lock()
		defer mu.Unlock()
		if is = !is; is {
			on()
		} else {
			off()
		}
		return lib.NewToolResultText("changed"), nil
	}
}

// progress tells three times how far it is, if it was asked to.
func progress(ctx context.Context, r lib.CallToolRequest) (*lib.CallToolResult, error) {
	if r.Params.Meta != nil && r.Params.Meta.ProgressToken != nil {
		for _, done := range []int{0, 50, 100} {
			err := mcp.Notify(ctx, string(lib.MethodNotificationProgress),
				map[string]any{"progressToken": r.Params.Meta.ProgressToken, "progress": done, "total": 100})
			if err != nil {
				return nil, err
			}
		}
	}
	return lib.NewToolResultText("progress reported"), nil
}

// logging logs three lines, if the client takes any: since 2026-07-28 it says
// so with each request.
func logging(ctx context.Context, _ lib.CallToolRequest) (*lib.CallToolResult, error) {
	if info := server.RequestProtocolInfoFromContext(ctx); info == nil || !info.Modern || info.LogLevel != "" {
		for _, line := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
			err := mcp.Notify(ctx, string(lib.MethodNotificationMessage), map[string]any{"level": "info", "logger": "conformance", "data": line})
			if err != nil {
				return nil, err
			}
		}
	}
	return lib.NewToolResultText("Tool with logging executed successfully"), nil
}
