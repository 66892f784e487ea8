/** A gate before the calls of real clients. */

import { Client, credentials, type Server, type ServerUnaryCall, status } from '@grpc/grpc-js';
import { type Caller, EdgeAdmission, HeldCallers } from '@tessera/admission';
import { protoSchema } from '@tessera/contracts';
import { Readiness } from '@tessera/lifecycle';
import { afterEach, expect, it } from 'vitest';
import { CallGate } from './call-gate.js';
import { GrpcHealth } from './health.js';
import { grpcServer } from './server.js';

const RECALL = '/tessera.recall.v1.RecallService/Recall';
const HISTORY = '/tessera.behaviour.v1.BehaviourService/History';
const asIs = (bytes: Buffer) => bytes;
const LONG_MS = 30_000;

const closings: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0)) await close();
});

/** Keeps those whom it would hold. */
class Noted extends HeldCallers {
  readonly callers = new Set<Caller>();

  override refused(caller: Caller): void {
    this.callers.add(caller);
  }
}

/** Admission that has seen ten answers a second behind twenty calls. */
function slowAdmission(): EdgeAdmission {
  let ms = 0;
  const forecast = () => ({ waitUs: 0, turnUs: 0 });
  const admission = new EdgeAdmission({ forecast, inFlightMax: 100, nowMs: () => ms });
  const places = Array.from({ length: 20 }, () => admission.admit(1, LONG_MS));
  for (let n = 0; n < 100; n += 1) {
    ms += 100;
    places.shift()?.giveBack('answered');
    places.push(admission.admit(1, LONG_MS));
  }
  return admission;
}

async function started() {
  const held = new Noted();
  const asked: string[] = [];
  const counted = { refused: 0 };
  const rules = { defaultDeadlineMs: LONG_MS, deadlineMsMax: LONG_MS, held };
  const serves = (path: string) => ({
    path,
    requestStream: false as const,
    responseStream: false as const,
    requestSerialize: asIs,
    requestDeserialize: asIs,
    responseSerialize: asIs,
    responseDeserialize: asIs,
  });
  const answer = (call: ServerUnaryCall<Buffer, Buffer>, done: (e: null, b: Buffer) => void) => {
    asked.push(call.getPath());
    done(null, Buffer.from(String(Number(call.getDeadline()) - Date.now())));
  };
  const server = grpcServer({
    host: '127.0.0.1',
    port: 0,
    messageBytesMax: 1000,
    certificatePath: '',
    keyPath: '',
    clientCaPath: '',
    packages: [],
    schema: protoSchema,
    descriptors: {},
    health: new GrpcHealth([], new Readiness()),
    gate: new CallGate({
      ...rules,
      admissions: { decoder: slowAdmission() },
      onRefused: () => {
        counted.refused += 1;
      },
      trailer: ['tessera-load', () => '7'],
    }),
    interceptor: (_method, inner) => inner as never,
    connectionsMax: 100,
    connectionAgeMs: 0,
    tls: undefined,
    methods: { handlers: new Map(), limits: {} as never, admissions: {}, log: {} as never },
    addServices: (grpc: Server) =>
      grpc.addService(
        { Recall: serves(RECALL), History: serves(HISTORY) },
        { Recall: answer, History: answer },
      ),
  });
  await new Promise<void>((resolve, reject) => {
    server.listen((error?: unknown) => (error ? reject(error) : resolve()));
  });
  closings.push(() => server.close());
  const { port } = server;
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  closings.unshift(() => client.close());
  return { held, asked, counted, ask: asking(client) };
}

type Ended = Awaited<ReturnType<ReturnType<typeof asking>>>;

const asking = (client: Client) => (path: string, deadlineMs: number) =>
  new Promise<{ code: number; text: string; trailer: (name: string) => unknown }>((resolve) => {
    const options = { deadline: Date.now() + deadlineMs };
    let text = '';
    const call = client.makeUnaryRequest(
      path,
      asIs,
      asIs,
      Buffer.from('?'),
      options,
      (e, bytes) => {
        text = e?.details ?? String(bytes);
      },
    );
    call.on('status', ({ code, metadata }) => {
      resolve({ code, text, trailer: (name) => metadata.get(name)[0] });
    });
  });

it('refuses a call by its head, in the words and with the trailers of any refusal', async () => {
  const { ask, asked, held, counted } = await started();
  const refused: Ended = await ask(RECALL, 500);
  expect(refused.code).toBe(status.RESOURCE_EXHAUSTED);
  expect(refused.text).toMatch(/^queue too long: expected wait \d+ ms, deadline in \d+ ms$/);
  expect(refused.trailer('tessera-code')).toBe('ENGINE_OVERLOADED');
  expect(Number(refused.trailer('tessera-retry-after-ms'))).toBeGreaterThan(100);
  expect(refused.trailer('tessera-load')).toBe('7');
  // Published clients read the code and the hint of the details alone.
  const details = String(refused.trailer('grpc-status-details-bin'));
  expect(details).toContain('ENGINE_OVERLOADED');
  expect(details).toContain('google.rpc.RetryInfo');
  expect(asked).toEqual([]);
  expect(held.callers.size).toBe(1);
  expect(counted.refused).toBe(1);
});

it('lets in a call for which there is time, and those of methods without a queue', async () => {
  const { ask, asked, counted } = await started();
  expect((await ask(RECALL, 20_000)).code).toBe(status.OK);
  expect((await ask(HISTORY, 500)).code).toBe(status.OK);
  expect(asked).toEqual([RECALL, HISTORY]);
  expect(counted.refused).toBe(0);
});

it('holds nobody who asks over the same connection if the service lives', async () => {
  const { ask, held } = await started();
  await ask('/grpc.health.v1.Health/Check', LONG_MS);
  expect((await ask(RECALL, 500)).code).toBe(status.RESOURCE_EXHAUSTED);
  expect(held.callers.size).toBe(0);
});

it('holds a client by a limit of no streams, and its calls go on when it is released', async () => {
  const { ask, held } = await started();
  await ask(RECALL, 500);
  const [caller] = held.callers as Set<Caller>;
  caller?.hold();
  const waiting = ask(HISTORY, LONG_MS);
  let isAnswered = false;
  void waiting.then(() => {
    isAnswered = true;
  });
  expect((await ask(HISTORY, 50)).code).toBe(status.DEADLINE_EXCEEDED);
  expect(isAnswered).toBe(false);
  caller?.release();
  expect((await waiting).code).toBe(status.OK);
});
