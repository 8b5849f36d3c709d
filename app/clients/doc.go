// Package clients lets the MCP clients people use work with Steward: each
// starts `steward mcp` as its users would have it do, lists the tools, and
// leaves receipts. Where a client needs a model, a small one answers on the
// loopback interface with what a real one would send; where the system allows,
// there is no other network at all.
//
// It is tests alone. STEWARD_CLIENTS names the folder .ci/clients-install has
// made; without it every test is skipped. The versions are in testdata/package.json.
package clients
