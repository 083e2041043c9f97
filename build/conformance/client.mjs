// The official TypeScript client as it ships, against the built termic: discover, list, call, a refusal, progress,
// cancellation, and a new token after the endpoint was switched off and on. Arguments: the directory of the npm packages,
// the endpoint's URL, the file of its token, a task whose agent works for long.
//
// It prints "rebind" when the endpoint is to be switched off and on and reads a line when that is done. It ends with
// status 0 when everything was as it should be.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [packages, url, tokenFile, task] = process.argv.slice(2);
const find = createRequire(packages + "/package.json");
const { Client, StreamableHTTPClientTransport } = await import(pathToFileURL(find.resolve("@modelcontextprotocol/client")));

// A client keeps its token and reads the file again when it is refused, as those with a headers helper do.
let token = readFileSync(tokenFile, "utf8").trim();
let refused = 0;
const authProvider = {
  token: async () => token,
  onUnauthorized: async () => { refused++; token = readFileSync(tokenFile, "utf8").trim(); },
};

const client = new Client({ name: "termic-test", version: "1" }, {
  versionNegotiation: { mode: "auto" },
  listChanged: { tools: { onChanged: () => {} } }, // opens a subscription
});
await client.connect(new StreamableHTTPClientTransport(new URL(url), { authProvider }));
assert.equal(client.getNegotiatedProtocolVersion(), "2026-07-28");
assert.equal(client.getServerVersion().name, "termic");

const { tools } = await client.listTools();
for (const tool of tools) {
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = tool.annotations;
  for (const hint of [readOnlyHint, destructiveHint, idempotentHint, openWorldHint]) assert.equal(typeof hint, "boolean", tool.name);
  assert.match(tool._meta["termic/class"], /^(read|write|destructive)$/, tool.name);
  assert.equal(tool._meta["anthropic/requiresUserInteraction"] === true, destructiveHint, tool.name);
}
assert.ok(tools.some((tool) => tool.annotations.destructiveHint), "no tool is destructive");

const agents = await client.callTool({ name: "task_agents", arguments: {} });
assert.ok(!agents.isError && agents.structuredContent.agents.length > 0);
const none = await client.callTool({ name: "task_status", arguments: { task: "no-such-task" } });
assert.ok(none.isError && none._meta["termic/refusal"].code === "not_found", JSON.stringify(none));
assert.match(none.content[0].text, /not_found/);

const giveUp = new AbortController();
let progress = 0;
await assert.rejects(client.callTool({ name: "task_wait", arguments: { task, timeoutMs: 120000 } }, {
  signal: giveUp.signal,
  onprogress: () => { progress++; giveUp.abort(); },
}));
assert.equal(progress, 1, "no progress was told");

const answers = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
console.log("rebind");
await answers.next();
const after = await client.callTool({ name: "task_agents", arguments: {} });
assert.ok(!after.isError && refused > 0, `refused ${refused} times`);
await client.close();
process.exit(0);
