// Lets the YAML language server that editors use read a scope file under our schema: completion,
// hover and the mark at a mistake.
// usage: node yaml-server.mjs SCHEMA SCOPE-FILE
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [schemaFile, scopeFile] = process.argv.slice(2).map((path) => resolve(path));
let count = 0, failed = 0;
const check = (name, good, detail) => {
  count++;
  console.log(`${good ? "ok" : "not ok"} ${count} - ${name}`);
  if (!good) { failed++; console.log(`#   ${JSON.stringify(detail)}`); }
};

const manifest = createRequire(import.meta.url).resolve("yaml-language-server/package.json");
const server = spawn(process.execPath, [join(dirname(manifest), "bin/yaml-language-server"), "--stdio"],
  { stdio: ["pipe", "pipe", "inherit"] });
const waiting = new Map();
const diagnostics = new Map();
let last = 0, buffer = Buffer.alloc(0);
const write = (message) => {
  const text = JSON.stringify({ jsonrpc: "2.0", ...message });
  server.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
};
const request = (method, params) => new Promise((done) => {
  const id = ++last;
  waiting.set(id, done);
  write({ id, method, params });
});
const settings = { yaml: { schemas: { [pathToFileURL(schemaFile).href]: "*.yaml" }, completion: true, hover: true,
  validate: true, schemaStore: { enable: false } }, http: {}, "[yaml]": {}, editor: {}, files: {} };
const take = (message) => {
  if (message.method === "textDocument/publishDiagnostics")
    diagnostics.set(message.params.uri, message.params.diagnostics);
  else if (message.method === "workspace/configuration")
    write({ id: message.id, result: message.params.items.map((item) => settings[item.section] ?? null) });
  else if (message.method && message.id !== undefined)
    write({ id: message.id, result: null });
  else if (waiting.has(message.id))
    waiting.get(message.id)(message.result ?? message.error);
};
server.stdout.on("data", (bytes) => {
  buffer = Buffer.concat([buffer, bytes]);
  for (;;) {
    const end = buffer.indexOf("\r\n\r\n");
    if (end < 0) return;
    const length = Number(/Content-Length: (\d+)/i.exec(buffer.subarray(0, end).toString())[1]);
    if (buffer.length < end + 4 + length) return;
    const message = JSON.parse(buffer.subarray(end + 4, end + 4 + length).toString());
    buffer = buffer.subarray(end + 4 + length);
    take(message);
  }
});

const uri = pathToFileURL(scopeFile).href;
let version = 0;
const open = (text) => {
  diagnostics.delete(uri);
  if (version === 0)
    write({ method: "textDocument/didOpen", params: { textDocument: { uri, languageId: "yaml", version: ++version, text } } });
  else
    write({ method: "textDocument/didChange", params: { textDocument: { uri, version: ++version }, contentChanges: [{ text }] } });
};
const marks = async () => {
  for (let i = 0; i < 600 && !diagnostics.has(uri); i++)
    await new Promise((done) => setTimeout(done, 50));
  return diagnostics.get(uri);
};
const place = (text, word, offset = 0) => {
  const before = text.slice(0, text.indexOf(word) + offset).split("\n");
  return { line: before.length - 1, character: before.at(-1).length };
};
const labels = (result) => (result?.items ?? result ?? []).map((item) => item.label);

const good = readFileSync(scopeFile, "utf8");
await request("initialize", { processId: process.pid, rootUri: null, capabilities: { workspace: { configuration: true } } });
write({ method: "initialized", params: {} });
write({ method: "workspace/didChangeConfiguration", params: { settings } });

open(good);
let found = await marks();
check("a scope file without mistakes has no mark", found?.length === 0, found);

let hover = await request("textDocument/hover", { textDocument: { uri }, position: place(good, "effect:", 2) });
check("hovering over a key explains it", JSON.stringify(hover).includes("deny beats ask beats allow"), hover);

const bad = good.replace("effect: allow", "effect: alow");
open(bad);
found = await marks();
check("a wrong word is marked", found?.length === 1, found);
check("  at its place", found?.[0]?.range.start.line === place(bad, "alow").line, found);
check("  with what may stand there", /allow/.test(found?.[0]?.message ?? ""), found);

const unknown = good.replace("    users:", "    usrs:");
open(unknown);
found = await marks();
check("an unknown key is marked", found?.some((mark) => /usrs/.test(mark.message)), found);

const complete = async (from, to, word) => {
  const text = good.replace(from, to);
  open(text);
  await marks();
  return labels(await request("textDocument/completion", { textDocument: { uri }, position: place(text, word, word.length) }));
};
let words = await complete("agents: [sales-query-01]", "agents: [s]", "agents: [s");
check("agents of the workspace are completed", words.includes("sales-query-01"), words);
words = await complete("orders: {columns: all}", "ord: {columns: all}", "        ord");
check("tables of the data are completed", words.includes("orders"), words);
words = await complete("columns: [customer_id, region]", "columns: [customer_id, r]", "columns: [customer_id, r");
check("columns of a table are completed", words.includes("region"), words);

server.kill();
console.log(`1..${count}`);
process.exit(failed ? 1 : 0);
