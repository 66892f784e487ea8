import { once } from 'node:events';
import * as http2 from 'node:http2';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { EdgeAdmission } from '@tessera/admission';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import type { DirectStreams } from '../direct/direct-streams.js';
import { CallGate, type CallGateSettings } from './call-gate.js';
import { type CallHead, FrameGate, type GateDecision } from './frame-gate.js';
import { FrameType, frame } from './frames.js';
import { GatedSocket } from './gated-socket.js';
import { huffman } from './hpack.js';
import { requestHeaders } from './request-headers.js';

const PATH = '/tessera.recall.v1.RecallService/Recall';
/** Every character that a header may have, but for the backslash. */
const TOKEN = `Bearer ${Array.from({ length: 94 }, (_, i) => String.fromCharCode(33 + i))
  .join('')
  .replace('\\', '')}`;
const closings: (() => void)[] = [];
afterEach(() => {
  for (const close of closings.splice(0)) close();
});

/** An HTTP/2 server that answers each call with its body, behind a gate. */
async function gated(decide: (head: CallHead) => GateDecision, streamsMax = 1000) {
  const served: string[] = [];
  const server = http2.createServer();
  server.on('stream', (stream, headers) => {
    served.push(String(headers[':path']));
    stream.on('error', () => undefined);
    const body: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => body.push(chunk));
    stream.on('end', () => {
      if (stream.destroyed) return;
      stream.respond({ ':status': 200 });
      stream.end(Buffer.concat(body));
    });
  });
  const listener: Server = createServer({ allowHalfOpen: true }, (socket) => {
    const settings = { decide, streamsMax, direct: undefined };
    server.emit('connection', new GatedSocket(socket, settings));
  });
  await new Promise<void>((resolve) => {
    listener.listen(0, '127.0.0.1', resolve);
  });
  const { port } = listener.address() as AddressInfo;
  const client = http2.connect(`http://127.0.0.1:${port}`);
  closings.push(
    () => client.destroy(),
    () => listener.close(),
    () => server.close(),
  );
  return { client, served };
}

interface Answered {
  readonly headers: http2.IncomingHttpHeaders;
  readonly body: Buffer;
}

function call(
  client: http2.ClientHttp2Session,
  headers: http2.OutgoingHttpHeaders,
  body: Buffer,
): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const stream = client.request({ ':method': 'POST', ...headers });
    const parts: Buffer[] = [];
    let answer: http2.IncomingHttpHeaders = {};
    stream.on('response', (given) => {
      answer = given;
    });
    stream.on('data', (chunk: Buffer) => parts.push(chunk));
    stream.on('error', reject);
    stream.on('close', () => resolve({ headers: answer, body: Buffer.concat(parts) }));
    stream.end(body);
  });
}

const refusing: CallGateSettings = {
  admission: new EdgeAdmission(),
  methods: new Map([[PATH, { priority: 12, deadlineMs: 10 }]]),
  waitedMs: () => 1e9,
  defaultDeadlineMs: 1000,
  deadlineMsMax: 1000,
  onRefused: () => undefined,
};

describe('a connection with a gate', () => {
  it('passes other calls byte for byte, also in pieces larger than a window', async () => {
    const { client } = await gated(() => ({ isUncounted: true }));
    for (const bytes of [0, 1, 20_000, 300_000]) {
      const body = Buffer.alloc(bytes, bytes % 251);
      const answer = await call(client, { ':path': '/any' }, body);
      expect(answer.body.equals(body)).toBe(true);
    }
  });

  it('ends refused calls with a status and lets others on', async () => {
    const gate = new CallGate(refusing);
    const { client, served } = await gated(gate.decide);
    // The first call may be under way before the client has agreed to the gate's settings.
    await call(client, { ':path': '/first' }, Buffer.alloc(0));
    for (let round = 0; round < 50; round++) {
      const [refused, other] = await Promise.all([
        call(client, { ':path': PATH, 'grpc-timeout': '200m' }, Buffer.from('\0\0\0\0\0')),
        call(client, { ':path': '/other' }, Buffer.from(`round ${round}`)),
      ]);
      expect(refused.headers['grpc-status']).toBe('4');
      expect(refused.headers['tessera-code']).toBe('DEADLINE_EXCEEDED');
      expect(other.body.toString()).toBe(`round ${round}`);
    }
    expect(served.filter((path) => path === PATH)).toEqual([]);
  });

  it('gives back the window that bodies of refused calls took', async () => {
    const gate = new CallGate(refusing);
    const { client } = await gated(gate.decide);
    await call(client, { ':path': '/first' }, Buffer.alloc(0));
    const body = Buffer.alloc(30_000);
    // Ten times the connection's window.
    for (let round = 0; round < 22; round++) {
      const refused = await call(client, { ':path': PATH, 'grpc-timeout': '200m' }, body);
      expect(refused.headers['grpc-status']).toBe('4');
    }
    const answer = await call(client, { ':path': '/other' }, body);
    expect(answer.body.length).toBe(30_000);
  });

  it('refuses a call beyond those that it may have at once, and later ones not', async () => {
    const { client, served } = await gated(() => ({ isUncounted: true }), 2);
    await call(client, { ':path': '/first' }, Buffer.alloc(0));
    const open = ['/one', '/two'].map((path) => {
      const stream = client.request({ ':method': 'POST', ':path': path });
      stream.on('error', () => undefined);
      return stream;
    });
    await expect.poll(() => served).toContain('/two');
    await expect(call(client, { ':path': '/three' }, Buffer.alloc(0))).rejects.toThrow(
      'NGHTTP2_REFUSED_STREAM',
    );
    expect(served).not.toContain('/three');
    for (const stream of open) stream.end();
    await Promise.all(open.map((stream) => once(stream.resume(), 'close')));
    const body = Buffer.from('four');
    expect((await call(client, { ':path': '/four' }, body)).body).toEqual(body);
  });
});

describe('a server that leaves', () => {
  const NEWEST = 7;
  const goaway = (stream: number) => {
    const payload = Buffer.alloc(12, 'x');
    payload.writeUInt32BE(stream, 0);
    return frame(FrameType.GOAWAY, 0, 0, payload);
  };
  const before = frame(FrameType.DATA, 0, 1, Buffer.from('before'));
  const said = Buffer.concat([before, goaway(1), before]);

  it('is told to answer the calls that the gate answers, however its bytes are cut', () => {
    const windows = { serverSent: () => 0 };
    const direct = { newest: NEWEST, windows } as unknown as DirectStreams;
    for (let first = 0; first <= said.length; first++) {
      for (const second of [0, 1, 2, 3, 5, said.length]) {
        const got: Buffer[] = [];
        const gate = new FrameGate({
          toServer: () => undefined,
          toClient: (bytes) => got.push(Buffer.from(bytes)),
          decide: () => ({ isUncounted: true }),
          direct,
          streamsMax: 1,
        });
        const begun = Buffer.concat(got.splice(0));
        const end = Math.min(said.length, first + second);
        for (const [from, to] of [
          [0, first],
          [first, end],
          [end, said.length],
        ]) {
          gate.fromServer(Buffer.from(said.subarray(from, to)));
        }
        expect(begun.length).toBeGreaterThan(0);
        expect(Buffer.concat(got)).toEqual(Buffer.concat([before, goaway(NEWEST), before]));
      }
    }
  });
});

describe('CallGate', () => {
  const message = (bytes: readonly number[]) => Buffer.from([0, 0, 0, 0, bytes.length, ...bytes]);
  const head = (bytes: readonly number[], timeoutMs = 300): CallHead => ({
    path: PATH,
    timeoutMs,
    message: message(bytes),
  });

  function judging() {
    const admitted: (readonly [number, number])[] = [];
    const admission = new EdgeAdmission();
    const { refuses } = admission;
    admission.refuses = (cls, budgetMs) => {
      admitted.push([cls, budgetMs]);
      return refuses.call(admission, cls, budgetMs);
    };
    const clock = { nowMs: 0 };
    const nowMs = () => clock.nowMs;
    const gate = new CallGate({ ...refusing, admission, waitedMs: () => 20, nowMs });
    return { gate, admitted, admission, clock };
  }

  it('reads priority and deadline from the message, wherever they stand in it', () => {
    const { gate, admitted } = judging();
    const userId = [0x12, 2, 0x60, 0x03];
    gate.decide(head([...userId, 0x60, 3]));
    gate.decide(head([0x60, 1, ...userId, 0x50, 0xc8, 0x01]));
    gate.decide(head(userId));
    expect(admitted).toEqual([
      [2, 280],
      [0, 180],
      [1, 280],
    ]);
  });

  it('gives a call its place when its request is there, of the time that is left then', () => {
    const { gate, admission, clock } = judging();
    const calls = Array.from({ length: 1000 }, () => gate.decide(head([])));
    expect(admission.inFlight).toBe(0);
    const opened = calls.flatMap((decision) => ('call' in decision ? decision.call : []));
    expect(opened).toHaveLength(1000);
    const slot = opened[0]?.begin(message([]));
    expect(admission.inFlight).toBe(1);
    if (slot !== undefined && 'end' in slot) slot.end(true);
    expect(admission.inFlight).toBe(0);
    clock.nowMs += 280;
    expect(opened[1]?.begin(message([]))).toHaveProperty('refusal');
    expect(opened[2]?.begin(message([0x50, 0]))).toBeUndefined();
    expect(admission.inFlight).toBe(0);
  });

  it('takes the default deadline where the caller gives none', () => {
    const { gate, admitted } = judging();
    gate.decide(head([], Number.POSITIVE_INFINITY));
    expect(admitted).toEqual([[1, 980]]);
  });

  it('decides on whatever bytes a message has', () => {
    const { gate, admitted } = judging();
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        gate.decide(head([...bytes]));
        const [cls = -1] = admitted.at(-1) ?? [];
        return [0, 1, 2].includes(cls);
      }),
    );
  });
});

describe('requestHeaders', () => {
  it('reads plain literals and Huffman codes alike', () => {
    const plain = (text: string) => Buffer.from([text.length, ...Buffer.from(text)]);
    const coded = (text: string) => {
      const bytes = huffman(text);
      return Buffer.from([0x80 | bytes.length, ...bytes]);
    };
    for (const text of [plain, coded]) {
      const block = Buffer.concat([
        Buffer.from([0x83, 0x04]),
        text(PATH),
        Buffer.from([0x10]),
        text('grpc-timeout'),
        text('1500u'),
        Buffer.from([0x1f, 0x08]),
        text(TOKEN),
      ]);
      expect(requestHeaders(block)).toEqual({
        path: PATH,
        timeoutMs: 1.5,
        isPartial: false,
        fields: { ':path': PATH, 'grpc-timeout': '1500u', authorization: TOKEN },
      });
    }
  });

  it('does not decide a block that stands on others', () => {
    expect(requestHeaders(Buffer.from([0xbe]))).toBeUndefined();
  });

  it('never throws, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        requestHeaders(Buffer.from(bytes));
      }),
      { numRuns: 2000 },
    );
  });
});
