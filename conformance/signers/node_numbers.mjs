// Reads one double per line, as the 16 hex digits of its big-endian bits; writes each as ECMAScript does.
import { readFileSync } from "node:fs";

for (const bits of readFileSync(0, "utf8").trim().split("\n")) {
  console.log(JSON.stringify(Buffer.from(bits, "hex").readDoubleBE()));
}
