// Has Perfetto's trace processor read a trace, and prints the rows of queries as JSON:
//   node processor.mjs FOLDER TRACE SQL...
// FOLDER holds engine_bundle.js and trace_processor*.wasm of Perfetto's UI. The bundle
// is made for a worker of a browser; the few things of one that it needs are here. It
// speaks the messages of protos/perfetto/trace_processor/trace_processor.proto.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import vm from 'node:vm';

const [folder, trace, ...queries] = process.argv.slice(2);
const file = (name) => readFileSync(join(folder, name.split('/').pop()));

const varint = (n) => {
  const out = [];
  for (n = BigInt(n); n > 127n; n >>= 7n) out.push(Number(n & 127n) | 128);
  return [...out, Number(n)];
};
const number = (field, n) => Buffer.from([...varint(field << 3), ...varint(n)]);
const bytes = (field, b) => Buffer.concat([Buffer.from([...varint((field << 3) | 2), ...varint(b.length)]), b]);

// fields reads a message: of each field its number, and its bytes or its number.
function* fields(b) {
  let at = 0;
  const read = () => {
    let n = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const x = b[at++];
      n |= BigInt(x & 127) << shift;
      if (x < 128) return n;
    }
  };
  while (at < b.length) {
    const key = Number(read());
    if ((key & 7) === 0) yield [key >> 3, read()];
    else if ((key & 7) === 1) yield [key >> 3, b.subarray(at, (at += 8))];
    else {
      const n = Number(read());
      yield [key >> 3, b.subarray(at, (at += n))];
    }
  }
}
const packed = (b) => {
  const out = [];
  for (let at = 0; at < b.length; ) {
    let n = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const x = b[at++];
      n |= BigInt(x & 127) << shift;
      if (x < 128) break;
    }
    out.push(n);
  }
  return out;
};

const waiting = [];
const arrived = [];
const answers = (b) => {
  for (const [, message] of fields(Buffer.from(b))) arrived.push(message);
  waiting.shift()?.();
};
const port = { postMessage: answers, onmessage: null };

class XMLHttpRequest {
  open(_, name) { this.name = name; }
  send() { this.response = new Uint8Array(file(this.name)).buffer; }
}
const self = {
  location: { href: 'http://127.0.0.1/' }, WorkerGlobalScope: class {}, XMLHttpRequest,
  fetch: async (name) => ({ ok: true, status: 200, url: name, headers: new Map(), arrayBuffer: async () => new Uint8Array(file(String(name))).buffer }),
  console: { log() {}, warn() {}, error: console.error }, TextDecoder, TextEncoder, URL, performance, setTimeout, clearTimeout, queueMicrotask, crypto: globalThis.crypto,
};
self.self = self;
self.importScripts = () => {};
vm.createContext(self);
vm.runInContext(file('engine_bundle.js').toString(), self);
self.onmessage({ data: port });

let seq = 0;
const inside = vm.runInContext('Uint8Array', self);
async function ask(method, args) {
  const message = Buffer.concat([number(1, seq++), number(2, method), args ?? Buffer.alloc(0)]);
  port.onmessage({ data: inside.from(bytes(1, message)) });
  const out = arrived.splice(0);
  for (const m of out) for (const [f, v] of fields(m)) if (f === 5) throw new Error(v.toString());
  return out;
}

// What the bundle begins when it has its module comes first.
await new Promise((done) => setTimeout(done, 100));
const all = readFileSync(trace);
for (let at = 0; at < all.length; at += 16 << 20) {
  for (const m of await ask(1, bytes(101, all.subarray(at, at + (16 << 20)))))
    for (const [f, v] of fields(m)) if (f === 201) for (const [g, w] of fields(v)) if (g === 2) throw new Error(w.toString());
}
await ask(2);
for (const sql of queries) {
  const names = [];
  const cells = [];
  for (const m of await ask(3, bytes(103, bytes(1, Buffer.from(sql))))) {
    for (const [f, v] of fields(m)) {
      if (f !== 203) continue;
      for (const [g, w] of fields(v)) {
        if (g === 1) names.push(w.toString());
        if (g === 2 && w.length > 0) throw new Error(`${sql}: ${w}`);
        if (g !== 3) continue;
        const batch = { 1: [], 2: [], 3: [], 4: [], 5: [] };
        let types = [];
        for (const [h, x] of fields(w)) {
          if (h === 1) types = packed(x);
          if (h === 2) batch[2] = packed(x).map((n) => BigInt.asIntN(64, n)).map(Number);
          if (h === 3) for (let i = 0; i < x.length; i += 8) batch[3].push(x.readDoubleLE(i));
          if (h === 5) batch[4] = x.toString().split('\0');
        }
        for (const t of types) cells.push(t === 1n ? null : batch[Number(t)].shift());
      }
    }
  }
  const rows = [];
  for (let i = 0; i < cells.length; i += names.length) rows.push(Object.fromEntries(names.map((name, k) => [name, cells[i + k]])));
  console.log(JSON.stringify(rows));
}
process.exit(0);
