package main

import (
	"context"
	"fmt"

	lib "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

type object = map[string]any

// addAsking adds the tools that ask the client while they run, as was done
// before 2026-07-28.
func addAsking(s *server.MCPServer) {
	s.AddTool(lib.NewTool("test_sampling", lib.WithDescription("Asks the client's model."), lib.WithString("prompt", lib.Required())),
		func(ctx context.Context, r lib.CallToolRequest) (*lib.CallToolResult, error) {
			//lint:ignore SA1019 the suite's older revision asks for it
			res, err := s.RequestSampling(ctx, lib.CreateMessageRequest{
				Request:             lib.Request{Method: string(lib.MethodSamplingCreateMessage)},
				CreateMessageParams: question(r.GetString("prompt", ""), 100),
			})
			if err != nil {
				return lib.NewToolResultError(err.Error()), nil
			}
			said, _ := res.Content.(lib.TextContent)
			return lib.NewToolResultText("LLM response: " + said.Text), nil
		})
	s.AddTool(lib.NewTool("test_elicitation", lib.WithDescription("Asks the user."), lib.WithString("message", lib.Required())),
		func(ctx context.Context, r lib.CallToolRequest) (*lib.CallToolResult, error) {
			return elicit(ctx, s, "User response", r.GetString("message", ""), object{
				"username": object{"type": "string", "description": "User's response"},
				"email":    object{"type": "string", "description": "User's email address"},
			}, "username", "email")
		})
	add(s, "test_elicitation_sep1034_defaults", "Asks with defaults.", func(ctx context.Context, _ lib.CallToolRequest) (*lib.CallToolResult, error) {
		return elicit(ctx, s, "Elicitation completed", "Who are you?", object{
			"name":     object{"type": "string", "default": "John Doe"},
			"age":      object{"type": "integer", "default": 30},
			"score":    object{"type": "number", "default": 95.5},
			"status":   object{"type": "string", "enum": []string{"active", "inactive", "pending"}, "default": "active"},
			"verified": object{"type": "boolean", "default": true},
		})
	})
	add(s, "test_elicitation_sep1330_enums", "Asks for choices.", func(ctx context.Context, _ lib.CallToolRequest) (*lib.CallToolResult, error) {
		titled := []object{{"const": "value1", "title": "First Option"}, {"const": "value2", "title": "Second Option"}, {"const": "value3", "title": "Third Option"}}
		plain := []string{"option1", "option2", "option3"}
		return elicit(ctx, s, "Elicitation completed", "Choose.", object{
			"untitledSingle": object{"type": "string", "enum": plain},
			"titledSingle":   object{"type": "string", "oneOf": titled},
			"legacyEnum":     object{"type": "string", "enum": []string{"opt1", "opt2", "opt3"}, "enumNames": []string{"Option One", "Option Two", "Option Three"}},
			"untitledMulti":  object{"type": "array", "items": object{"type": "string", "enum": plain}},
			"titledMulti":    object{"type": "array", "items": object{"anyOf": titled}},
		})
	})
}

// elicit asks the user to fill in properties and tells what came.
func elicit(ctx context.Context, s *server.MCPServer, say, message string, properties object, required ...string) (*lib.CallToolResult, error) {
	res, err := s.RequestElicitation(ctx, lib.ElicitationRequest{
		Request: lib.Request{Method: string(lib.MethodElicitationCreate)},
		Params:  form(message, properties, required...),
	})
	if err != nil {
		return lib.NewToolResultError(err.Error()), nil
	}
	return lib.NewToolResultText(fmt.Sprintf("%s: action=%s, content=%v", say, res.Action, res.Content)), nil
}

func form(message string, properties object, required ...string) lib.ElicitationParams {
	schema := object{"type": "object", "properties": properties}
	if len(required) > 0 {
		schema["required"] = required
	}
	return lib.ElicitationParams{Message: message, RequestedSchema: schema}
}

func question(text string, tokens int) lib.CreateMessageParams {
	return lib.CreateMessageParams{
		Messages:  []lib.SamplingMessage{{Role: lib.RoleUser, Content: lib.NewTextContent(text)}},
		MaxTokens: tokens,
	}
}
