package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	lib "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

func addResources(s *server.MCPServer) {
	s.AddResource(lib.NewResource("test://static-text", "static-text", lib.WithResourceDescription("A text."), lib.WithMIMEType("text/plain")),
		func(context.Context, lib.ReadResourceRequest) ([]lib.ResourceContents, error) {
			return []lib.ResourceContents{lib.TextResourceContents{
				URI: "test://static-text", MIMEType: "text/plain", Text: "This is the content of the static text resource."}}, nil
		})
	s.AddResource(lib.NewResource("test://static-binary", "static-binary", lib.WithResourceDescription("A picture."), lib.WithMIMEType("image/png")),
		func(context.Context, lib.ReadResourceRequest) ([]lib.ResourceContents, error) {
			return []lib.ResourceContents{lib.BlobResourceContents{URI: "test://static-binary", MIMEType: "image/png", Blob: pixel}}, nil
		})
	s.AddResourceTemplate(lib.NewResourceTemplate("test://template/{id}/data", "template",
		lib.WithTemplateDescription("One for every id."), lib.WithTemplateMIMEType("application/json")),
		func(_ context.Context, r lib.ReadResourceRequest) ([]lib.ResourceContents, error) {
			id := strings.TrimSuffix(strings.TrimPrefix(r.Params.URI, "test://template/"), "/data")
			b, err := json.Marshal(map[string]any{"id": id, "templateTest": true, "data": "Data for ID: " + id})
			return []lib.ResourceContents{lib.TextResourceContents{URI: r.Params.URI, MIMEType: "application/json", Text: string(b)}}, err
		})
}

// says is a prompt that always says the same.
func says(content ...lib.Content) server.PromptHandlerFunc {
	return func(context.Context, lib.GetPromptRequest) (*lib.GetPromptResult, error) {
		return user(content...), nil
	}
}

// user is a prompt of the user's messages.
func user(content ...lib.Content) *lib.GetPromptResult {
	p := &lib.GetPromptResult{}
	for _, c := range content {
		p.Messages = append(p.Messages, lib.PromptMessage{Role: lib.RoleUser, Content: c})
	}
	return p
}

func addPrompts(s *server.MCPServer) {
	s.AddPrompt(lib.NewPrompt("test_simple_prompt", lib.WithPromptDescription("A text.")),
		says(text("This is a simple prompt for testing.")))
	s.AddPrompt(lib.NewPrompt("test_prompt_with_image", lib.WithPromptDescription("A picture.")),
		says(lib.NewImageContent(pixel, "image/png"), text("Please analyze the image above.")))
	s.AddPrompt(lib.NewPrompt("test_prompt_with_arguments", lib.WithPromptDescription("Says its arguments."),
		lib.WithArgument("arg1", lib.ArgumentDescription("The first."), lib.RequiredArgument()),
		lib.WithArgument("arg2", lib.ArgumentDescription("The second."), lib.RequiredArgument())),
		func(_ context.Context, r lib.GetPromptRequest) (*lib.GetPromptResult, error) {
			return user(text(fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", r.Params.Arguments["arg1"], r.Params.Arguments["arg2"]))), nil
		})
	s.AddPrompt(lib.NewPrompt("test_prompt_with_embedded_resource", lib.WithPromptDescription("A resource."),
		lib.WithArgument("resourceUri", lib.ArgumentDescription("Which."), lib.RequiredArgument())),
		func(_ context.Context, r lib.GetPromptRequest) (*lib.GetPromptResult, error) {
			return user(resource(r.Params.Arguments["resourceUri"], "text/plain", "Embedded resource content for testing."),
				text("Please process the embedded resource above.")), nil
		})
}
