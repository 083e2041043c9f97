// The official TypeScript clients that open with initialize: v1, which can do nothing else, and v2 as it is unless told
// otherwise. Arguments: the directory of the npm packages, the endpoint's URL, the file of its token, whether older
// clients are served ("served") or are to be told what is ("told").
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [packages, url, tokenFile, want] = process.argv.slice(2);
const find = createRequire(packages + "/package.json");
const load = (name) => import(pathToFileURL(find.resolve(name)));
const { Client: V1 } = await load("@modelcontextprotocol/sdk/client/index.js");
const { StreamableHTTPClientTransport: V1Transport } = await load("@modelcontextprotocol/sdk/client/streamableHttp.js");
const { Client: V2, StreamableHTTPClientTransport: V2Transport } = await load("@modelcontextprotocol/client");

const requestInit = { headers: { Authorization: "Bearer " + readFileSync(tokenFile, "utf8").trim() } };
for (const [Client, Transport] of [[V1, V1Transport], [V2, V2Transport]]) {
  const client = new Client({ name: "termic-test", version: "1" }, {});
  const connected = client.connect(new Transport(new URL(url), { requestInit }));
  if (want === "told") {
    await assert.rejects(connected, /2026-07-28/);
    continue;
  }
  await connected;
  const { tools } = await client.listTools();
  assert.ok(tools.some((tool) => tool.name === "task_status"));
  const agents = await client.callTool({ name: "task_agents", arguments: {} });
  assert.ok(!agents.isError && agents.structuredContent.agents.length > 0);
  const none = await client.callTool({ name: "task_status", arguments: { task: "no-such-task" } });
  assert.match(none.content[0].text, /not_found/);
  await client.close();
}
process.exit(0);
