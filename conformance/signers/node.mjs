// Signs as a JavaScript backend does: JSON.stringify(payload). Reads the job of ../README.md, "Signers".
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";

const read = { string: String, number: Number, boolean: (text) => text === "true" };
const [secret, ...members] = readFileSync(0, "utf8").trimEnd().split("\n");
const payload = Object.fromEntries(
  members.map((line) => line.split("\t")).map(([name, kind, text]) => [name, read[kind](text)]),
);
const signature = createHmac("sha256", secret).update(JSON.stringify(payload)).digest("hex");
console.log(Buffer.from(JSON.stringify({ payload, signature })).toString("base64url"));
