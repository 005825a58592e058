// The official MCP SDK as a host: lists the tools of an agent, calls some, prints TAP.
// usage: node mcp-client.mjs sdk|client WORKSPACE AGENT   (the SDK of the legacy or modern era)
const [era, workspace, agent] = process.argv.slice(2);
const { Client } = await import(era === "sdk" ? "@modelcontextprotocol/sdk/client/index.js"
  : "@modelcontextprotocol/client");
const { StdioClientTransport } = await import(era === "sdk" ? "@modelcontextprotocol/sdk/client/stdio.js"
  : "@modelcontextprotocol/client/stdio");

let count = 0, failed = 0;
const check = (name, good, detail) => {
  count++;
  console.log(`${good ? "ok" : "not ok"} ${count} - ${name}`);
  if (!good) { failed++; console.log(`#   ${JSON.stringify(detail)}`); }
};

const transport = new StdioClientTransport({
  command: "writ", args: ["mcp", "-C", workspace, "--agent", agent], env: process.env,
});
const client = new Client({ name: "writ-test", version: "1" });
await client.connect(transport);
check("the handshake names the server", client.getServerVersion()?.name === "writ", client.getServerVersion());

const { tools } = await client.listTools();
const names = tools.map((tool) => tool.name).sort();
check("the agent's seven tools are listed", JSON.stringify(names) === JSON.stringify([
  "describe_table", "explain_query", "list_metrics", "list_tables", "run_query", "search_schema", "search_values"]), names);
check("each has an object schema", tools.every((tool) => tool.inputSchema.type === "object"), tools);

const orders = await client.callTool({ name: "run_query", arguments: { sql: "SELECT COUNT(*) AS n FROM orders" } });
check("a query answers", orders.structuredContent?.rows?.[0]?.[0] === 9 && !orders.isError, orders);
check("its text is the same object", JSON.stringify(JSON.parse(orders.content[0].text).rows) === "[[9]]", orders);

const hidden = await client.callTool({ name: "run_query", arguments: { sql: "SELECT * FROM payroll" } });
const absent = await client.callTool({ name: "run_query", arguments: { sql: "SELECT * FROM payrolls" } });
check("what is out of scope fails", hidden.isError === true, hidden);
check("and looks like what does not exist",
  hidden.structuredContent.error.replaceAll("payroll", "X") === absent.structuredContent.error.replaceAll("payrolls", "X"),
  [hidden, absent]);

let unknown;
try { await client.callTool({ name: "drop_everything", arguments: {} }); } catch (error) { unknown = error; }
check("an unknown tool is an error of the request", unknown?.code === -32602, unknown);

const many = await Promise.all([1, 2, 3].map((n) =>
  client.callTool({ name: "run_query", arguments: { sql: `SELECT ${n} AS n FROM orders LIMIT 1` } })));
check("calls side by side get their own answers",
  JSON.stringify(many.map((one) => one.structuredContent.rows[0][0])) === "[1,2,3]", many);

const abort = new AbortController();
const endless = client.callTool({ name: "run_query", arguments: {
  sql: "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM r) SELECT COUNT(*) FROM r" } },
  ...(era === "sdk" ? [undefined] : []), { signal: abort.signal });
setTimeout(() => abort.abort(), 200);
let aborted;
try { await endless; } catch (error) { aborted = error; }
check("a running call can be cancelled", aborted !== undefined, aborted);
const after = await client.callTool({ name: "run_query", arguments: { sql: "SELECT COUNT(*) FROM customers" } });
check("and the next one works", after.structuredContent?.rows?.[0]?.[0] === 5, after);

await client.close();
console.log(`1..${count}`);
process.exit(failed ? 1 : 0);
