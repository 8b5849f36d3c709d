// Connects the TypeScript SDK's client v1 to the server of the plan on standard
// input, lists the tools, makes the plan's calls one after the other, and
// prints what the server said about itself, the tools and the results as JSON.
import { text } from "node:stream/consumers";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const plan = JSON.parse(await text(process.stdin));
const client = new Client({ name: "steward-clients", version: "1.0.0" });
await client.connect(new StdioClientTransport({ command: plan.command, args: plan.args }));
const { tools } = await client.listTools();
const results = [];
for (const call of plan.calls) {
  results.push(await client.callTool({ name: call.name, arguments: call.arguments }));
}
const said = { server: client.getServerVersion(), instructions: client.getInstructions(), tools, results };
await client.close();
console.log(JSON.stringify(said));
