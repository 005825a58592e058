// Asks the real writ-signer for a token over its own channel and verifies it with the jose library,
// as any resource server would; then the published example tokens.
// usage: node signer-token.mjs WORKSPACE VECTORS
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { createLocalJWKSet, decodeJwt, importJWK, jwtVerify } from "jose";

const [workspace, vectors] = process.argv.slice(2);
let count = 0, failed = 0;
const check = (name, good, detail) => {
  count++;
  console.log(`${good ? "ok" : "not ok"} ${count} - ${name}`);
  if (!good) { failed++; console.log(`#   ${JSON.stringify(detail)}`); }
};
const refused = async (promise) => { try { await promise; return undefined; } catch (error) { return error.code ?? "refused"; } };

mkdirSync(`${workspace}/state`, { recursive: true, mode: 0o700 });
const signer = spawn(`${process.env.WRIT_PLACE}/bin/writ-signer`, [workspace],
  { stdio: ["ignore", "ignore", "inherit", "pipe"] }); // on Unix a pipe of node is a socket pair
const channel = signer.stdio[3];
const lines = createInterface({ input: channel })[Symbol.asyncIterator]();
let id = 0;
const ask = async (method, params) => {
  channel.write(JSON.stringify({ jsonrpc: "2.0", id: ++id, method, params }) + "\n");
  return JSON.parse((await lines.next()).value);
};

const keys = (await ask("keys", {})).result;
const key = await importJWK({ kty: "OKP", crv: "Ed25519", x: keys.token.x }, "EdDSA");
const parent = readFileSync(`${vectors}/parent.jwt`, "utf8").trim();
const { iss, aud, ...claims } = decodeJwt(parent);
const now = Math.floor(Date.now() / 1000);
const fresh = { ...claims, iat: now, nbf: now, exp: now + 300 };

const { token } = (await ask("token.sign", fresh)).result;
const { payload, protectedHeader } = await jwtVerify(token, key, { typ: "at+jwt", algorithms: ["EdDSA"] });
check("jose accepts a token of the signer", payload.client_id === claims.client_id, payload);
check("its header has exactly three members", Object.keys(protectedHeader).sort().join() === "alg,kid,typ", protectedHeader);
check("the audience is the signer's own, not asked for", payload.aud.startsWith("https://") && payload.aud.endsWith("/tools"), payload);
check("the grant came through unchanged",
  JSON.stringify(payload.authorization_details) === JSON.stringify(claims.authorization_details), payload);
check("not for another audience", await refused(jwtVerify(token, key, { audience: "https://elsewhere.example" })) !== undefined);
check("not after its end", await refused(jwtVerify(token, key, { currentDate: new Date((now + 301) * 1000) })) === "ERR_JWT_EXPIRED");
check("not with a changed claim", await refused(jwtVerify(
  token.split(".").map((part, i) => i === 1 ? Buffer.from(JSON.stringify({ ...payload, client_id: "x" })).toString("base64url") : part).join("."),
  key)) === "ERR_JWS_SIGNATURE_VERIFICATION_FAILED");
check("the signer refuses 301 seconds", (await ask("token.sign", { ...fresh, exp: now + 301 })).error !== undefined);
check("and a member it does not know", (await ask("token.sign", { ...fresh, admin: true })).error !== undefined);
check("and a foreign audience", (await ask("token.sign", { ...fresh, aud: "https://elsewhere.example" })).error !== undefined);

const published = createLocalJWKSet(JSON.parse(readFileSync(`${vectors}/jwks.json`, "utf8")));
for (const name of ["parent", "child"]) {
  const example = readFileSync(`${vectors}/${name}.jwt`, "utf8").trim();
  const verified = await jwtVerify(example, published, { audience: "https://broker.example/tools", currentDate: new Date(1796083300 * 1000) });
  check(`the published example (${name}) verifies`, verified.payload.txn === "task-2026-12-01-0007", verified.payload);
}
channel.end();
console.log(`1..${count}`);
process.exit(failed ? 1 : 0);
