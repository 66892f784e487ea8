import type { AdmissionSlot } from '@tessera/admission';
import { type Carrier, carrierOf } from '@tessera/telemetry';
import { turns } from '@tessera/turns';
import {
  CREDIT_BYTES_MIN,
  contentOf,
  dataFrames,
  ErrorCode,
  Flag,
  type FrameHead,
  FrameType,
  initialWindowOf,
  MESSAGE_HEADER_BYTES,
  resetStream,
  windowUpdate,
} from '../gate/frames.js';
import type { OpenCall } from '../gate/open-call.js';
import type { RequestHeaders } from '../gate/request-headers.js';
import { answerEnd, answerFrames, answerInParts, endFrames, endOfAnswer } from './answer-frames.js';
import { CallDeadlines } from './call-deadlines.js';
import { CancelSignal } from './cancel-signal.js';
import type { DirectMethod, DirectServing } from './direct-method.js';
import { ResetBudget } from './reset-budget.js';
import { FIRST_WINDOW_BYTES, SendWindows } from './send-windows.js';

const US_PER_MS = 1000;
/** Assumed size of an answer before the first one. */
const ANSWER_BYTES_FIRST = 4096;
const Status = { DEADLINE_EXCEEDED: 4, RESOURCE_EXHAUSTED: 8, UNIMPLEMENTED: 12 } as const;

interface DirectStream {
  readonly id: number;
  readonly method: DirectMethod;
  readonly headers: RequestHeaders;
  readonly begunMs: number;
  readonly call: OpenCall | undefined;
  /** Its place in admission, from the end of its request on. */
  slot: AdmissionSlot | undefined;
  readonly signal: CancelSignal;
  readonly reservedBytes: number;
  forgetDeadline: () => void;
  parts: Buffer[];
  hasClientEnded: boolean;
  receivedBytes: number;
  uncreditedBytes: number;
  windowBytes: number;
  /** The answer's DATA that has not been sent; undefined before there is an answer. */
  left: Buffer | undefined;
}

export interface DirectWires {
  readonly toClient: (bytes: Buffer) => void;
  readonly onIdle: () => void;
  /** The client resets more than any that means well. */
  readonly onFlood: () => void;
}

const deadlines = new CallDeadlines();

/**
 * The calls of one connection that the gate answers itself: frames in, a handler's message out. To
 * the server their streams do not exist. Owners of each stream are this map and the handler's
 * promise, whichever ends first.
 */
export class DirectStreams {
  readonly windows = new SendWindows();
  private readonly resets = new ResetBudget();
  private readonly streams = new Map<number, DirectStream>();
  private firstWindow = FIRST_WINDOW_BYTES;
  private answerBytes = ANSWER_BYTES_FIRST;
  /** The greatest stream that was taken. */
  newest = 0;

  constructor(
    private readonly serving: DirectServing,
    private readonly wires: DirectWires,
    /** Name in the certificate of the client; undefined: it showed none. */
    private readonly certificate?: string | undefined,
  ) {}

  get size(): number {
    return this.streams.size;
  }

  has(stream: number): boolean {
    return this.streams.has(stream);
  }

  /**
   * Takes a call where it can be answered here: of a method that is, in the one encoding, with room
   * for its answer.
   */
  begins(head: FrameHead, headers: RequestHeaders, call: OpenCall | undefined): boolean {
    const method = this.methodOf(headers);
    const reservedBytes = this.answerBytes;
    if (method === undefined || !this.windows.reserve(reservedBytes)) return false;
    const stream: DirectStream = {
      id: head.stream,
      method,
      headers,
      call,
      slot: undefined,
      reservedBytes,
      begunMs: performance.now(),
      signal: new CancelSignal(),
      forgetDeadline: () => undefined,
      parts: [],
      hasClientEnded: false,
      receivedBytes: 0,
      uncreditedBytes: 0,
      windowBytes: this.firstWindow,
      left: undefined,
    };
    this.streams.set(stream.id, stream);
    this.newest = stream.id;
    try {
      const { authorization } = headers.fields;
      this.serving.enter(method.path, { authorization, certificate: this.certificate });
    } catch (thrown) {
      this.fail(stream, this.serving.statusOf(thrown));
      return true;
    }
    const lastsMs = Math.min(headers.timeoutMs, this.serving.deadlineMsMax);
    stream.forgetDeadline = deadlines.add(stream.begunMs + lastsMs, () => this.late(stream));
    if ((head.flags & Flag.END_STREAM) !== 0) this.requested(stream);
    return true;
  }

  /** A frame of a stream that is one of these. */
  take(head: FrameHead, payload: Buffer): void {
    const stream = this.streams.get(head.stream);
    if (stream === undefined) return;
    const carries = head.type === FrameType.DATA || head.type === FrameType.HEADERS;
    if (carries && stream.hasClientEnded) {
      this.goesOnAfterItsEnd(stream);
      return;
    }
    if (head.type === FrameType.RST_STREAM) {
      this.over(stream, false);
      stream.signal.abort();
      if (!this.resets.take()) this.wires.onFlood();
    } else if (head.type === FrameType.WINDOW_UPDATE && payload.length === 4) {
      stream.windowBytes += payload.readUInt32BE(0) & 0x7fff_ffff;
      this.pump();
    } else if (head.type === FrameType.DATA) {
      this.receive(stream, contentOf(head, payload), head);
    }
    if (carries && (head.flags & Flag.END_STREAM) !== 0) this.requested(stream);
  }

  /** RFC 9113, 5.1, half-closed: each end would ask again for what was admitted once. */
  private goesOnAfterItsEnd(stream: DirectStream): void {
    this.wires.toClient(resetStream(stream.id, ErrorCode.STREAM_CLOSED));
    this.over(stream, false);
    stream.signal.abort();
  }

  /** A client's SETTINGS. */
  settings(payload: Buffer): void {
    const first = initialWindowOf(payload);
    if (first === undefined) return;
    for (const stream of this.streams.values()) stream.windowBytes += first - this.firstWindow;
    this.firstWindow = first;
    this.pump();
  }

  /** Sends what the windows allow, oldest answers first. */
  pump(): void {
    for (const stream of this.streams.values()) {
      if (stream.left !== undefined) this.sendLeft(stream, stream.left);
    }
  }

  /** The connection has gone. */
  close(): void {
    for (const stream of [...this.streams.values()]) {
      this.over(stream, false);
      stream.signal.abort();
    }
  }

  private methodOf({ path, fields, isPartial, timeoutMs }: RequestHeaders) {
    const isPlain = (fields['grpc-encoding'] ?? 'identity') === 'identity';
    const isGrpc = fields['content-type']?.startsWith('application/grpc') === true;
    // A timeout that cannot be read is refused by the server in its own words.
    const isTimed = fields['grpc-timeout'] === undefined || timeoutMs !== Number.POSITIVE_INFINITY;
    if (path === undefined || isPartial || !isPlain || !isGrpc || !isTimed) return undefined;
    return this.serving.methods.get(path);
  }

  private receive(stream: DirectStream, content: Buffer | undefined, head: FrameHead): void {
    if (content === undefined || stream.left !== undefined) return;
    stream.parts.push(Buffer.from(content));
    stream.receivedBytes += content.length;
    stream.uncreditedBytes += head.length;
    const { messageBytesMax } = this.serving;
    const [first] = stream.parts;
    const length = first && first.length >= MESSAGE_HEADER_BYTES ? first.readUInt32BE(1) : 0;
    if (Math.max(length, stream.receivedBytes - MESSAGE_HEADER_BYTES) > messageBytesMax) {
      const details = `Received message larger than max (${length} vs ${messageBytesMax})`;
      this.fail(stream, { code: Status.RESOURCE_EXHAUSTED, details });
    } else if (stream.uncreditedBytes >= CREDIT_BYTES_MIN) {
      this.wires.toClient(windowUpdate(stream.id, stream.uncreditedBytes));
      stream.uncreditedBytes = 0;
    }
  }

  /** The request is there as a whole. */
  private requested(stream: DirectStream): void {
    stream.hasClientEnded = true;
    const begun = stream.call?.begin(stream.parts[0]);
    if (begun !== undefined && 'refusal' in begun) {
      this.wires.toClient(answerEnd(stream.id, begun.refusal));
      this.over(stream, true);
      return;
    }
    stream.slot = begun;
    turns.call(() => this.handle(stream));
  }

  private handle(stream: DirectStream): void {
    const { method, parts } = stream;
    // It may have been cancelled, or late, before its turn.
    if (!this.streams.has(stream.id)) return;
    stream.parts = [];
    const bytes = parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
    const isWhole =
      bytes.length >= MESSAGE_HEADER_BYTES &&
      bytes.readUInt32BE(1) === bytes.length - MESSAGE_HEADER_BYTES;
    if (!isWhole) {
      const details = `Received no single request message for the unary method ${method.path}`;
      this.fail(stream, { code: Status.UNIMPLEMENTED, details });
      return;
    }
    const message = method.deserialize(bytes.subarray(MESSAGE_HEADER_BYTES));
    method
      .handle(message, this.contextOf(stream))
      .then((answer) => this.answer(stream, method.serialize(answer)))
      .catch((thrown: unknown) => {
        if (this.streams.has(stream.id)) this.fail(stream, this.serving.statusOf(thrown));
      });
  }

  private contextOf({ headers, begunMs, signal, slot }: DirectStream) {
    const { timeoutMs, fields } = headers;
    const leftMs = timeoutMs - (performance.now() - begunMs);
    const { traceparent, tracestate, authorization } = fields;
    const isTraced = traceparent !== undefined || tracestate !== undefined;
    const caller: Carrier = isTraced ? carrierOf((name) => fields[name]) : NO_CARRIER;
    return { signal, budgetUs: leftMs * US_PER_MS, caller, authorization, slot };
  }

  private answer(stream: DirectStream, message: Uint8Array): void {
    if (!this.streams.has(stream.id)) return;
    const bytes = MESSAGE_HEADER_BYTES + message.length;
    this.answerBytes = Math.max(this.answerBytes, bytes);
    if (bytes <= this.windows.own && bytes <= stream.windowBytes) {
      this.windows.sent(bytes);
      this.wires.toClient(answerFrames(stream.id, message, this.endOfAnswer()));
      this.over(stream, true);
      return;
    }
    const { begin, data } = answerInParts(stream.id, message);
    this.wires.toClient(begin);
    stream.left = data;
    this.sendLeft(stream, data);
  }

  private endOfAnswer(): Buffer {
    return endOfAnswer(this.serving.loadClass?.());
  }

  private sendLeft(stream: DirectStream, left: Buffer): void {
    const bytes = Math.min(left.length, this.windows.own, stream.windowBytes);
    if (bytes > 0) {
      this.windows.sent(bytes);
      stream.windowBytes -= bytes;
      this.wires.toClient(dataFrames(stream.id, left.subarray(0, bytes)));
      stream.left = left.subarray(bytes);
    }
    if (bytes < left.length) return;
    this.wires.toClient(answerEnd(stream.id, this.endOfAnswer()));
    this.over(stream, true);
  }

  private late(stream: DirectStream): void {
    if (!this.streams.has(stream.id)) return;
    this.fail(stream, { code: Status.DEADLINE_EXCEEDED, details: 'Deadline exceeded' });
    stream.signal.abort();
  }

  private fail(stream: DirectStream, status: Parameters<typeof endFrames>[1]): void {
    this.wires.toClient(endFrames(stream.id, status, stream.left === undefined));
    // The rest of the request is not waited for.
    if (!stream.hasClientEnded) this.wires.toClient(resetStream(stream.id, ErrorCode.NO_ERROR));
    this.over(stream, true);
  }

  private over(stream: DirectStream, isAnswered: boolean): void {
    if (!this.streams.delete(stream.id)) return;
    stream.forgetDeadline();
    this.windows.giveBack(stream.reservedBytes);
    stream.slot?.end(isAnswered);
    if (this.streams.size === 0) this.wires.onIdle();
  }
}

const NO_CARRIER: Carrier = {};
