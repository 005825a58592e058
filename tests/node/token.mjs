// Verifies a scope token with the jose library, as any resource server would.
// usage: node token.mjs TOKEN KEY-X AUDIENCE [NOW]  -> prints the claims, or fails
import { importJWK, jwtVerify } from "jose";

const [token, x, audience, now] = process.argv.slice(2);
const key = await importJWK({ kty: "OKP", crv: "Ed25519", x }, "EdDSA");
const { payload, protectedHeader } = await jwtVerify(token, key, {
  audience, typ: "at+jwt", algorithms: ["EdDSA"],
  currentDate: now ? new Date(Number(now) * 1000) : undefined,
});
console.log(JSON.stringify({ header: protectedHeader, claims: payload }));
