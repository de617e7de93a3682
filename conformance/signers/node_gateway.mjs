// A gateway that reads the header on its input and writes it anew, payload and all, as JSON.stringify does.
import { readFileSync } from "node:fs";

const envelope = JSON.parse(Buffer.from(readFileSync(0, "utf8").trim(), "base64url"));
console.log(Buffer.from(JSON.stringify(envelope)).toString("base64url"));
