// A verifier of intents written from docs/contract.md (contract 1 "Strict JSON", contract 3), with Node's own modules
// only. It answers the questions of docs/conformance.md: `affidavit conform --exec 'node conformance/programs/node.mjs'`.
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { createInterface } from "node:readline";

class Rejected extends Error {}
const must = (holds, reason) => {
  if (!holds) throw new Rejected(reason);
};
const sha256 = (data) => createHash("sha256").update(data).digest("hex");

// Strict JSON. Objects have no prototype, so that every name is an ordinary one.

const SPACE = /[ \t\n\r]*/y;
const SCALAR = /true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const STRING = /"(?:[^"\\\0-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

class StrictJson {
  spans = new Map(); // where the values of the outermost object's members begin and end
  numbers = []; // as they are written

  constructor(bytes, maxDepth) {
    this.text = UTF8.decode(bytes);
    this.maxDepth = maxDepth;
    this.at = 0;
    this.value = this.read(1);
    this.take(SPACE);
    must(this.at === this.text.length);
  }

  read(level) {
    this.take(SPACE);
    const first = this.text[this.at];
    if (first === '"') return this.string();
    if (first === "[" || first === "{") {
      must(level <= this.maxDepth);
      return first === "[" ? this.array(level) : this.object(level);
    }
    const literal = this.take(SCALAR);
    const value = JSON.parse(literal);
    if (typeof value === "number") this.numbers.push(literal);
    must(typeof value !== "number" || Number.isFinite(value));
    return value;
  }

  array(level) {
    const items = [];
    this.sequence("]", () => items.push(this.read(level + 1)));
    return items;
  }

  object(level) {
    const members = Object.create(null);
    this.sequence("}", () => {
      const name = this.string();
      must(!(name in members) && this.next(":"));
      this.take(SPACE);
      const start = this.at;
      members[name] = this.read(level + 1);
      if (level === 1) this.spans.set(name, [start, this.at]);
    });
    return members;
  }

  sequence(end, readOne) {
    this.at += 1;
    if (this.next(end)) return;
    do {
      this.take(SPACE);
      readOne();
    } while (this.next(","));
    must(this.next(end));
  }

  string() {
    const value = JSON.parse(this.take(STRING));
    must(value.isWellFormed() && !value.includes("\0"));
    return value;
  }

  take(pattern) {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    must(found);
    this.at = pattern.lastIndex;
    return found[0];
  }

  next(character) {
    this.take(SPACE);
    if (this.text[this.at] !== character) return false;
    this.at += 1;
    return true;
  }
}

const strict = (bytes, maxDepth, reason) => {
  try {
    return new StrictJson(bytes, maxDepth);
  } catch {
    throw new Rejected(reason);
  }
};

// RFC 8785: sort() compares UTF-16 units, and JSON.stringify writes scalars as the RFC wants them.

const canonical = (value) => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const members = Object.keys(value).sort();
  return `{${members.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(",")}}`;
};

const decimal = (text) => {
  const [, sign, whole, fraction = "", exponent = "0"] = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(text);
  const digits = (whole + fraction).replace(/^0+/, "");
  const significant = digits.replace(/0+$/, "");
  const power = BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - significant.length);
  return significant ? `${sign}${significant}e${power}` : "0";
};

const canonicalOfText = (bytes) => {
  const { value, numbers } = strict(bytes, 128, "args-mismatch");
  must(numbers.every((literal) => decimal(literal) === decimal(String(Number(literal)))), "args-mismatch");
  return canonical(value);
};

// Arguments.

const decoded = (text) => {
  must(!/[^\0-\x7f]/.test(text), "args-mismatch");
  try {
    return decodeURIComponent(text.replaceAll("+", " ")); // refuses `%zz`, a lone `%`, and what is not UTF-8
  } catch {
    throw new Rejected("args-mismatch");
  }
};

const named = (text) => {
  const values = Object.create(null);
  for (const pair of text.split("&").filter(Boolean)) {
    const [name, ...rest] = pair.split("=");
    const key = decoded(name);
    (values[key] ??= []).push(decoded(rest.join("=")));
  }
  for (const name in values) if (values[name].length === 1) [values[name]] = values[name];
  return canonical(values);
};

const bare = (value) => (value ?? "").replace(/^[ \t]+|[ \t]+$/g, "").toLowerCase();

const argsHash = ({ bodyBase64, contentType, contentEncoding, query }) => {
  const body = Buffer.from(bodyBase64, "base64");
  if (!body.length) return sha256(named(query));
  must(["", "identity"].includes(bare(contentEncoding)), "args-mismatch");
  const type = bare((contentType ?? "").split(";")[0]);
  if (["application/json", "text/json"].includes(type) || type.endsWith("+json")) return sha256(canonicalOfText(body));
  if (type === "application/x-www-form-urlencoded") return sha256(named(body.toString("latin1")));
  return sha256(body);
};

// The header.

const opened = (header) => {
  const bytes = Buffer.from(header, "base64url");
  const unpadded = bytes.toString("base64url");
  const padded = unpadded + "=".repeat(-unpadded.length & 3);
  must(header.length <= 8192 && (header === unpadded || header === padded), "malformed");
  const { value, spans, text } = strict(bytes, 64, "malformed");
  const { payload, signature } = spans.size === 2 ? value : {};
  must(isObject(payload) && typeof signature === "string" && /^[0-9a-fA-F]{64}$/.test(signature), "malformed");
  return { text: text.slice(...spans.get("payload")), payload, signature: Buffer.from(signature, "hex") };
};

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

const escaped = (text) =>
  text.replace(/[\x7f-\uffff]/g, (unit) => `\\u${unit.charCodeAt().toString(16).padStart(4, "0")}`);

const signedPayload = ({ text, payload, signature }, secrets) => {
  const stringified = JSON.stringify(payload);
  for (const form of [text, stringified, canonical(payload), escaped(stringified)])
    for (const secret of secrets)
      if (timingSafeEqual(createHmac("sha256", secret).update(form).digest(), signature))
        return strict(Buffer.from(form), 63, "malformed").value;
  throw new Rejected("bad-signature");
};

const UNKNOWN = ["gas_" + "0".repeat(43)]; // an unknown workspace costs what a known one does
const secretsFor = ({ workspace, secrets }, tenantId) => {
  if (workspace !== null) return secrets;
  return typeof tenantId === "string" && Object.hasOwn(secrets, tenantId) ? secrets[tenantId] : UNKNOWN;
};

// The payload.

const STRINGS = {
  1: ["toolCallId", "tenantId", "method", "path"],
  2: ["toolCallId", "tenantId", "sub", "aud", "operation", "argsHash", "nonce"],
};
const ONLY_IN_2 = ["v", "sub", "aud", "operation", "argsHash", "nonce", "requiresStepUp"];

const versionOf = (payload, { minimumVersion, v1Until, now }) => {
  const version = payload.v === 2 ? 2 : ONLY_IN_2.some((name) => name in payload) ? null : 1;
  must(version !== null && version >= minimumVersion, "unsupported-version");
  must(version === 2 || v1Until === null || now <= v1Until, "unsupported-version");
  return version;
};

const checkForm = (payload, version) => {
  must(STRINGS[version].every((name) => typeof payload[name] === "string" && payload[name]), "malformed");
  const [optional, kind] = version === 2 ? ["requiresStepUp", "boolean"] : ["userId", "string"];
  must(!(optional in payload) || typeof payload[optional] === kind, "malformed");
  const times = [payload.issuedAt, payload.expiresAt];
  must(times.every((time) => typeof time === "number"), "malformed");
  must(times[0] >= 1e11 === times[1] >= 1e11, "malformed");
};

const checkTime = ({ issuedAt, expiresAt }, { now, maxLifetime }) => {
  const unit = issuedAt >= 1e11 ? 1000 : 1;
  must(now <= expiresAt / unit && issuedAt <= expiresAt, "expired");
  must(issuedAt / unit <= now + 60, "not-yet-valid");
  must(expiresAt / unit - issuedAt / unit <= maxLifetime, "lifetime-too-long");
};

// The request.

const isPercentEncoded = (text) => {
  try {
    return decodeURIComponent(text) !== null;
  } catch {
    return false;
  }
};

const isAmbiguous = ({ path, rawPath }) =>
  /[?#\\\p{Cc}]/u.test(path) ||
  path.split("/").some((part) => part === "." || part === "..") ||
  /%2f/i.test(rawPath ?? "") ||
  !isPercentEncoded(rawPath ?? "");

const checkOperation = (payload, version, request) => {
  const method = request.method.toUpperCase();
  if (version === 1) {
    must(payload.method === method, "method-mismatch");
    must(payload.path === request.path && !isAmbiguous(request), "path-mismatch");
    return;
  }
  must(request.operation !== null || !isAmbiguous(request), "operation-mismatch");
  const bare = request.operation ?? `${method} ${request.path}`;
  const signsQuery = !request.query || !request.bodyBase64 || bare.endsWith(`?${request.query}`);
  const allowed = signsQuery ? [bare] : [];
  if (request.query && request.operation === null) allowed.push(`${bare}?${request.query}`);
  must(allowed.includes(payload.operation), "operation-mismatch");
};

const verify = (verifier, request, burnt) => {
  must(request.header, "missing-header");
  const envelope = opened(request.header);
  const payload = signedPayload(envelope, secretsFor(verifier, envelope.payload.tenantId));
  const version = versionOf(payload, verifier);
  checkForm(payload, version);
  checkTime(payload, verifier);
  must(verifier.workspace === null || payload.tenantId === verifier.workspace, "tenant-mismatch");
  must(version === 1 || payload.aud === verifier.audience, "audience-mismatch");
  checkOperation(payload, version, request);
  if (version === 1) return payload;
  must(argsHash(request) === payload.argsHash, "args-mismatch");
  must(!payload.requiresStepUp || request.stepUp, "step-up-required");
  const nonce = JSON.stringify([payload.tenantId, payload.nonce]);
  must(!burnt.has(nonce), "replayed");
  burnt.add(nonce);
  return payload;
};

// The questions, one per line.

const orNull = (call) => {
  try {
    return call();
  } catch (rejection) {
    if (rejection instanceof Rejected) return null;
    throw rejection;
  }
};

const ANSWERS = {
  intent({ verifier, request, burntNonces }) {
    const burnt = new Set(burntNonces.map((nonce) => JSON.stringify(nonce)));
    try {
      const accepted = verify(verifier, request, burnt);
      return { accepted, burnt: [...burnt].slice(burntNonces.length).map((nonce) => JSON.parse(nonce)) };
    } catch (rejection) {
      if (rejection instanceof Rejected) return { reason: rejection.message };
      throw rejection;
    }
  },
  args: ({ request }) => ({ hash: orNull(() => argsHash(request)) }),
  canonical: ({ input }) => ({ canonical: orNull(() => canonicalOfText(Buffer.from(input))) }),
  number: ({ bits }) => ({ text: canonical(Buffer.from(bits, "hex").readDoubleBE()) }),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, kind, ...question } = JSON.parse(line);
  console.log(JSON.stringify({ id, ...ANSWERS[kind](question) }));
}
