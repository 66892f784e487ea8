import { GRPC_STATUS } from '@tessera/errors';
import {
  callerSettings,
  contentOf,
  dataFrames,
  ErrorCode,
  Flag,
  FRAME_BYTES_MAX,
  FRAME_HEADER_BYTES,
  type FrameHead,
  FrameType,
  frame,
  framedMessage,
  frameHead,
  initialWindowOf,
  resetStream,
  streamsMaxOf,
  windowUpdate,
} from '../gate/frames.js';
import { type CallEnd, callEndOf, callHeaders, messageOf } from './call-frames.js';

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');
/** As HTTP/2 begins (RFC 9113, 6.9.2). */
const FIRST_WINDOW_BYTES = 65_535;
/** For answers: what a node may send before it hears of the caller again. */
const WINDOW_BYTES = 2 ** 30;
/** The connection's window is credited in steps of this. */
const CREDIT_BYTES = 2 ** 20;
/** A connection gives its place to a new one before its streams run out at 2^31. */
const STREAM_MAX = 2 ** 30;
/** That every peer should take at once (RFC 9113, 6.5.2). */
const STREAMS_MIN = 100;
const EMPTY = Buffer.alloc(0);
/** Pings are answered in their order, so that one is like another. */
const PING = Buffer.from('tessera?', 'latin1');

export interface Call {
  readonly message: Uint8Array;
  /** Literal headers of the method, and fields of this call. */
  readonly method: Buffer;
  readonly fields: Readonly<Record<string, string>>;
  /** Called once: with the message where the status is 0. */
  readonly done: (end: CallEnd, message: Buffer | undefined) => void;
}

export interface Ping {
  /** The peer has answered. */
  readonly done: () => void;
  readonly failed: (reason: string) => void;
}

interface OpenStream {
  readonly id: number;
  readonly call: Call;
  parts: Buffer[];
  /** Fragments of a block of headers that goes on. */
  block: Buffer[];
  isEnding: boolean;
  windowBytes: number;
  /** Of the request, bytes that wait for the node's window. */
  left: Buffer;
}

export interface SessionWires {
  readonly send: (bytes: Buffer) => void;
  /** The peer takes no further calls of this connection, or there are no streams left. */
  readonly onLeaving: () => void;
  readonly onIdle: () => void;
}

const failed = (status: number, details: string): CallEnd => ({ status, details, trailers: {} });
const away = (details: string) => failed(GRPC_STATUS.UNAVAILABLE, details);

/**
 * The client's end of one HTTP/2 connection, for unary calls of gRPC: bytes in, bytes out, without
 * sockets. A call that was not taken ends with UNAVAILABLE and may be made again.
 */
export class CallSession {
  private readonly open = new Map<number, OpenStream>();
  private readonly waiting: Call[] = [];
  private rest: Buffer = EMPTY;
  private nextStream = 1;
  /** Until the peer has said more: a call that it would refuse is held back. */
  private streamsMax = 1;
  private windowBytes = FIRST_WINDOW_BYTES;
  private firstWindow = FIRST_WINDOW_BYTES;
  private credit = 0;
  private isLeaving = false;
  private readonly pings: Ping[] = [];

  constructor(private readonly wires: SessionWires) {
    const more = windowUpdate(0, WINDOW_BYTES - FIRST_WINDOW_BYTES);
    wires.send(Buffer.concat([PREFACE, callerSettings(WINDOW_BYTES), more]));
  }

  /** Calls that have not ended. */
  get size(): number {
    return this.open.size + this.waiting.length;
  }

  /** @returns what cancels the call; nothing is called back then */
  begin(call: Call): () => void {
    if (this.open.size >= this.streamsMax) {
      this.waiting.push(call);
      return () => this.cancel(call);
    }
    const id = this.start(call);
    return () => this.cancelStream(id);
  }

  ping(ping: Ping): void {
    this.pings.push(ping);
    this.wires.send(frame(FrameType.PING, 0, 0, PING));
  }

  /** Takes bytes of the peer. */
  take(chunk: Buffer): void {
    const bytes = this.rest.length === 0 ? chunk : Buffer.concat([this.rest, chunk]);
    let at = 0;
    while (bytes.length - at >= FRAME_HEADER_BYTES) {
      const head = frameHead(bytes, at);
      const end = at + FRAME_HEADER_BYTES + head.length;
      if (head.length > FRAME_BYTES_MAX) {
        this.close('a frame that is longer than was agreed');
        return;
      }
      if (bytes.length < end) break;
      this.frame(head, bytes.subarray(at + FRAME_HEADER_BYTES, end));
      at = end;
    }
    this.rest = at === bytes.length ? EMPTY : bytes.subarray(at);
    this.giveCredit();
  }

  /** The connection has gone: all calls end. */
  close(reason: string): void {
    this.leave();
    const waiting = this.waiting.splice(0);
    for (const { failed } of this.pings.splice(0)) failed(reason);
    for (const id of [...this.open.keys()]) this.end(id, away(reason));
    for (const call of waiting) call.done(away(reason), undefined);
  }

  private start(call: Call): number {
    const id = this.nextStream;
    this.nextStream += 2;
    const stream: OpenStream = {
      id,
      call,
      parts: [],
      block: [],
      isEnding: false,
      windowBytes: this.firstWindow,
      left: framedMessage(call.message),
    };
    this.open.set(id, stream);
    const head = callHeaders(id, call.method, call.fields);
    const data = this.dataOf(stream);
    this.wires.send(data === undefined ? head : Buffer.concat([head, data]));
    if (id >= STREAM_MAX) this.leave();
    return id;
  }

  /** The request's next bytes, as far as both windows allow. */
  private dataOf(stream: OpenStream): Buffer | undefined {
    const { left } = stream;
    const bytes = Math.min(left.length, this.windowBytes, stream.windowBytes);
    if (bytes <= 0) return undefined;
    this.windowBytes -= bytes;
    stream.windowBytes -= bytes;
    stream.left = left.subarray(bytes);
    const flags = bytes === left.length ? Flag.END_STREAM : 0;
    return dataFrames(stream.id, left.subarray(0, bytes), flags);
  }

  private pump(): void {
    for (const stream of this.open.values()) {
      const data = stream.left.length === 0 ? undefined : this.dataOf(stream);
      if (data !== undefined) this.wires.send(data);
    }
  }

  private frame(head: FrameHead, payload: Buffer): void {
    if (head.stream === 0) {
      this.ofConnection(head, payload);
      return;
    }
    if (head.type === FrameType.DATA) this.credit += head.length;
    const stream = this.open.get(head.stream);
    if (stream === undefined) return;
    switch (head.type) {
      case FrameType.DATA:
        stream.parts.push(contentOf(head, payload) ?? EMPTY);
        if ((head.flags & Flag.END_STREAM) !== 0) this.end(stream.id, NO_STATUS);
        break;
      case FrameType.HEADERS:
        stream.isEnding = (head.flags & Flag.END_STREAM) !== 0;
        this.block(stream, head, contentOf(head, payload) ?? EMPTY);
        break;
      case FrameType.CONTINUATION:
        this.block(stream, head, payload);
        break;
      case FrameType.RST_STREAM:
        this.reset(stream, payload.length === 4 ? payload.readUInt32BE(0) : 0);
        break;
      case FrameType.WINDOW_UPDATE:
        stream.windowBytes += payload.length === 4 ? payload.readUInt32BE(0) & 0x7fff_ffff : 0;
        this.pump();
        break;
    }
  }

  private block(stream: OpenStream, { flags }: FrameHead, part: Buffer): void {
    const isWhole = (flags & Flag.END_HEADERS) !== 0;
    // Of headers before the message nothing is needed: a status that is none of gRPC ends the call.
    if (stream.isEnding) {
      if (!isWhole || stream.block.length > 0) stream.block.push(Buffer.from(part));
      if (isWhole) this.end(stream.id, callEndOf(whole(stream.block, part)));
    }
  }

  private ofConnection({ type, flags }: FrameHead, payload: Buffer): void {
    const isAck = (flags & Flag.ACK) !== 0;
    if (type === FrameType.SETTINGS && !isAck) {
      this.settings(payload);
      this.wires.send(frame(FrameType.SETTINGS, Flag.ACK, 0, EMPTY));
      this.startWaiting();
      this.pump();
    } else if (type === FrameType.PING) {
      if (isAck) this.pings.shift()?.done();
      else this.wires.send(frame(FrameType.PING, Flag.ACK, 0, payload));
    } else if (type === FrameType.WINDOW_UPDATE && payload.length === 4) {
      this.windowBytes += payload.readUInt32BE(0) & 0x7fff_ffff;
      this.pump();
    } else if (type === FrameType.GOAWAY && payload.length >= 4) {
      this.goAway(payload.readUInt32BE(0) & 0x7fff_ffff);
    }
  }

  private settings(payload: Buffer): void {
    this.streamsMax = streamsMaxOf(payload) ?? Math.max(this.streamsMax, STREAMS_MIN);
    const first = initialWindowOf(payload);
    if (first === undefined) return;
    for (const stream of this.open.values()) stream.windowBytes += first - this.firstWindow;
    this.firstWindow = first;
  }

  /** Calls behind the last that the peer has taken were not taken. */
  private goAway(last: number): void {
    this.leave();
    const waiting = this.waiting.splice(0);
    const reason = away('the node takes no further calls of this connection');
    for (const id of [...this.open.keys()]) if (id > last) this.end(id, reason);
    for (const call of waiting) call.done(reason, undefined);
    if (this.size === 0) this.wires.onIdle();
  }

  private reset(stream: OpenStream, code: number): void {
    if (code === ErrorCode.REFUSED_STREAM) this.end(stream.id, away('the call was not taken'));
    else if (code === ErrorCode.CANCEL) {
      this.end(stream.id, failed(GRPC_STATUS.CANCELLED, 'the node cancelled the call'));
    } else {
      this.end(stream.id, failed(GRPC_STATUS.INTERNAL, `RST_STREAM with code ${code}`));
    }
  }

  private end(id: number, end: CallEnd): void {
    const stream = this.open.get(id);
    if (stream === undefined) return;
    this.open.delete(id);
    // The rest of the request is of no use to the peer.
    if (stream.left.length > 0) this.wires.send(resetStream(id, ErrorCode.CANCEL));
    this.startWaiting();
    const message = end.status === 0 ? messageOf(stream.parts) : undefined;
    if (end.status === undefined) stream.call.done(NO_STATUS_FAILED, undefined);
    else if (end.status === 0 && message === undefined) stream.call.done(NO_MESSAGE, undefined);
    else stream.call.done(end, message);
    if (this.isLeaving && this.size === 0) this.wires.onIdle();
  }

  private cancel(call: Call): void {
    const at = this.waiting.indexOf(call);
    if (at >= 0) this.waiting.splice(at, 1);
    for (const [id, stream] of this.open) if (stream.call === call) this.cancelStream(id);
  }

  private cancelStream(id: number): void {
    if (!this.open.delete(id)) return;
    this.wires.send(resetStream(id, ErrorCode.CANCEL));
    this.startWaiting();
    if (this.isLeaving && this.size === 0) this.wires.onIdle();
  }

  private startWaiting(): void {
    while (this.waiting.length > 0 && this.open.size < this.streamsMax) {
      this.start(this.waiting.shift() as Call);
    }
  }

  private leave(): void {
    if (this.isLeaving) return;
    this.isLeaving = true;
    this.wires.onLeaving();
  }

  private giveCredit(): void {
    if (this.credit < CREDIT_BYTES) return;
    this.wires.send(windowUpdate(0, this.credit));
    this.credit = 0;
  }
}

function whole(block: readonly Buffer[], part: Buffer): Buffer {
  return block.length === 0 ? part : Buffer.concat(block);
}

const NO_STATUS: CallEnd = { status: undefined, details: '', trailers: {} };
const NO_STATUS_FAILED = away('expected an answer of gRPC, got one without a status');
const NO_MESSAGE = failed(GRPC_STATUS.INTERNAL, 'expected one message in the answer');
