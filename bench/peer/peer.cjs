// A plain MCP stdio server on the TypeScript SDK, version 1: one tool, which
// keeps nothing. It stands for what most servers are made with; only its start is
// measured.
//
//     NODE_PATH=/folder/node_modules node peer.cjs
const { Server } = require("@modelcontextprotocol/sdk/server/index.js");
const { StdioServerTransport } = require("@modelcontextprotocol/sdk/server/stdio.js");
const { CallToolRequestSchema, ListToolsRequestSchema } = require("@modelcontextprotocol/sdk/types.js");

const server = new Server({ name: "peer", version: "1.0.0" }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, async () => ({
	tools: [
		{
			name: "report_done",
			description: "Leave a receipt: who did what, with what outcome.",
			inputSchema: { type: "object", required: ["actor"], properties: { actor: { type: "string" }, outcome: { type: "string" } } },
		},
	],
}));
server.setRequestHandler(CallToolRequestSchema, async () => ({ content: [{ type: "text", text: "{}" }] }));
server.connect(new StdioServerTransport());
