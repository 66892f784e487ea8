import { Agent as HttpAgent, request as httpRequest, type RequestOptions } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import * as grpc from '@grpc/grpc-js';
import { CHANNEL_OPTIONS, type Connection, channelCredentials } from '@tessera/client';
import { LOAD_TRAILER, type RelevanceProfile } from '@tessera/contracts';
import { TesseraError } from '@tessera/errors';
import { timeoutText } from '@tessera/grpc';
import { type LogWord, type Member, NO_LOG, PredictedWork, parseLoadClass } from '@tessera/routing';
import { TIMER_MS_MAX } from '@tessera/units';
import { service as healthService } from 'grpc-health-check';
import { type HttpAnswer, NodeAway, NodeRefusal } from './node-failure.js';
import { type Fields, metadataOf } from './passed-fields.js';

/** `different`: another model, template or state than the cluster's, or another name. */
export type NodeState = 'unknown' | 'up' | 'draining' | 'down' | 'different';

export interface HttpAsk {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer | undefined;
  /** Milliseconds since 1970. */
  readonly deadlineMs: number;
  /** Called once with what ends the request. */
  readonly onBegun?: (end: () => void) => void;
}

const { CANCELLED, UNAVAILABLE, DEADLINE_EXCEEDED, NOT_FOUND } = grpc.status;
const HEALTH_CHECK = '/grpc.health.v1.Health/Check';
const { requestSerialize } = healthService.Check as grpc.MethodDefinition<object, object>;

const NEVER = Number.POSITIVE_INFINITY;
/** Milliseconds behind its deadline in which the end of a call may still come from the node. */
const GRACE_MS = 500;
const asIs = (bytes: Buffer): Buffer => bytes;

const refusalOf = ({ code, details, metadata }: grpc.ServiceError) =>
  new NodeRefusal(code, details, metadata);

/** A call that waits for a node. */
interface Waiting {
  readonly reject: (thrown: Error) => void;
  readonly end: () => void;
}

/** The connections to one node. Owner: the cluster of a gateway. */
export class NodeLink {
  state: NodeState = 'unknown';
  reason = 'not asked yet';
  /** Its state when it stopped to answer health; undefined: it answers. */
  silentFrom: NodeState | undefined;
  versions: Readonly<Record<string, string>> = {};
  /** Name of the process that answered over HTTP when it was last seen; '': it has none. */
  instance = '';
  /** True where another process than that of its HTTP address answers over gRPC. */
  isOtherOverGrpc = false;
  /** Why it is not ready though it takes requests, '' where it is: something else is away. */
  blocked = '';
  /** How far it is in the log of the cluster, when it was last seen. */
  log: LogWord = NO_LOG;
  /** Users' chains in its KV pool, when it was last seen. */
  chains = 0;
  /** Its profile of scoring texts when it was last seen; undefined: it scores none. */
  relevance: RelevanceProfile | undefined;
  /** Predicted work of the texts that it scores. */
  readonly work = new PredictedWork();
  /** Requests that the gateway waits for. */
  inFlight = 0;
  private connected: grpc.Client;
  private readonly agent: HttpAgent;
  private readonly waiting = new Set<() => void>();

  constructor(
    /** Its name and addresses stay; weight and role may be others later. */
    public member: Member,
    private readonly connection: Connection,
    /** Takes the load class of each answer that bears one. */
    private readonly onLoad: (loadClass: number) => void = () => undefined,
  ) {
    const { isTls } = connection;
    this.connected = this.connect();
    this.agent = new (isTls ? HttpsAgent : HttpAgent)({ keepAlive: true });
  }

  /** The gRPC client of the node's connection. */
  get client(): grpc.Client {
    return this.connected;
  }

  private connect(): grpc.Client {
    return new grpc.Client(this.member.grpc, channelCredentials(this.connection), {
      ...CHANNEL_OPTIONS,
      'grpc.max_receive_message_length': -1,
    });
  }

  /** Ends what waits for a first byte of the node, so that others are asked. */
  endWaiting(): void {
    for (const end of [...this.waiting]) end();
    // Nothing that is sent over the connection arrives, or no answer does.
    this.connected.close();
    this.connected = this.connect();
  }

  /**
   * One message for one message, as bytes. Rejects with NodeRefusal, with NodeAway where the node
   * is found to be away meanwhile, and with DEADLINE_EXCEEDED at `deadlineMs`, since 1970.
   */
  unary(
    path: string,
    message: Uint8Array,
    fields: Fields,
    deadlineMs: number,
    onBegun: (cancel: () => void) => void,
  ): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const call = this.begin(path, message, { fields, deadlineMs }, (error, answer) => {
        ended();
        if (answer !== undefined) resolve(answer);
        else reject(error && refusalOf(error));
      });
      call.on('status', ({ metadata }: grpc.StatusObject) => {
        this.note(metadata.get(LOAD_TRAILER)[0]);
      });
      const waiting = { reject, end: () => call.cancel() };
      const ended = this.await(waiting, deadlineMs);
      onBegun(() => {
        ended();
        reject(new NodeRefusal(CANCELLED, 'the caller cancelled the call', new grpc.Metadata()));
        call.cancel();
      });
    });
  }

  /**
   * The one end of what takes longer than its caller waits, and of what waits at a node that was
   * found to be away. @returns what says that it has ended
   */
  private await({ reject, end }: Waiting, deadlineMs: number): () => void {
    const leave = () => {
      ended();
      reject(new NodeAway(`${this.member.name} does not answer`));
      end();
    };
    this.waiting.add(leave);
    const leftMs = Math.min(Math.max(0, Math.ceil(deadlineMs - Date.now())), TIMER_MS_MAX);
    let timer: NodeJS.Timeout | undefined;
    if (deadlineMs !== NEVER) {
      timer = setTimeout(() => {
        const expected = `expected an answer within ${leftMs} ms, got none`;
        reject(new TesseraError('DEADLINE_EXCEEDED', `${this.member.name}: ${expected}`));
        // The node ends the call at its deadline too: its answer leaves the connection whole.
        timer = setTimeout(end, GRACE_MS);
      }, leftMs);
    }
    const ended = () => {
      this.waiting.delete(leave);
      clearTimeout(timer);
    };
    return ended;
  }

  private begin(
    path: string,
    message: Uint8Array,
    { fields, deadlineMs }: { readonly fields: Fields; readonly deadlineMs: number },
    done: grpc.requestCallback<Buffer>,
  ): grpc.ClientUnaryCall {
    const metadata = metadataOf(fields);
    // As a field, not as a deadline of grpc-js: that resets the stream, and Node's servers end a
    // connection that resets more than 33 a second.
    const leftMs = Math.max(1, Math.ceil(deadlineMs - Date.now()));
    if (deadlineMs !== NEVER) metadata.set('grpc-timeout', timeoutText(leftMs));
    const bytes = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
    return this.client.makeUnaryRequest(path, asIs, asIs, bytes, metadata, done);
  }

  /**
   * Rejects with NodeAway where there is no whole answer, and with DEADLINE_EXCEEDED where the node
   * took longer than it may: that is no sign of a node that is away.
   */
  http({ method, path, headers, body, deadlineMs, onBegun }: HttpAsk): Promise<HttpAnswer> {
    const { isTls } = this.connection;
    const url = new URL(`${isTls ? 'https' : 'http'}://${this.member.http}`);
    const { cert, key, ca } = this.connection.files;
    const options: RequestOptions = {
      agent: this.agent,
      // Of each request, not of the agent: they may have changed.
      ...(isTls && { cert, key, ca }),
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port,
      method,
      path,
      headers: { ...headers, ...(body && { 'content-length': String(body.length) }) },
    };
    return new Promise((resolve, reject) => {
      const over = (thrown: Error) => {
        ended();
        reject(this.awayFor(thrown));
      };
      const sent = (isTls ? httpsRequest : httpRequest)(options, (reply) => {
        const parts: Buffer[] = [];
        reply.on('data', (part: Buffer) => parts.push(part));
        reply.on('error', over);
        reply.on('end', () => {
          ended();
          const { statusCode: status = 0, headers: answered } = reply;
          this.note(answered[LOAD_TRAILER]);
          resolve({ status, headers: answered, body: Buffer.concat(parts) });
        });
      });
      const ended = this.await({ reject, end: () => sent.destroy() }, deadlineMs);
      onBegun?.(() => sent.destroy(new Error('the caller went away')));
      sent.on('error', over);
      sent.end(body);
    });
  }

  private awayFor({ message }: Error): NodeAway {
    return new NodeAway(`${this.member.name}: ${message}`);
  }

  /**
   * Asks the gRPC edge for its health. Rejects with NodeAway where it does not answer in time.
   * @param instance name of the process that answers over HTTP; '': it has none
   * @returns false where another process answers
   */
  ping(instance: string, deadlineMs: number): Promise<boolean> {
    return new Promise((resolve, reject) => {
      // A node that accepts the connection and says nothing would be waited for without an end.
      const options = { deadline: deadlineMs };
      const none = new grpc.Metadata();
      const asked = requestSerialize({ service: instance });
      this.client.makeUnaryRequest(HEALTH_CHECK, asIs, asIs, asked, none, options, (error) => {
        const isAway = error?.code === UNAVAILABLE || error?.code === DEADLINE_EXCEEDED;
        if (isAway) reject(new NodeAway(`${this.member.name}: ${error.details}`));
        else resolve(error?.code !== NOT_FOUND);
      });
    });
  }

  private note(loadClass: unknown): void {
    const known = typeof loadClass === 'string' ? parseLoadClass(loadClass) : undefined;
    if (known !== undefined) this.onLoad(known);
  }

  close(): void {
    this.client.close();
    this.agent.destroy();
  }
}
