import {
  contentOf,
  Flag,
  FRAME_HEADER_BYTES,
  type FrameHead,
  FrameType,
  frame,
  frameHead,
  noHeaderTable,
  PREFACE_BYTES,
  windowUpdate,
} from './frames.js';
import { requestHeaders } from './request-headers.js';

/** A call as its first bytes show it. */
export interface CallHead {
  readonly path: string;
  /** Infinity: no deadline. */
  readonly timeoutMs: number;
  /** The first message with its length before it; undefined where it came later. */
  readonly message: Buffer | undefined;
}

/** A call that was let through and has not ended. */
export interface OpenCall {
  /** `isAnswered`: the server has ended the call; else the caller or the connection did. */
  end(isAnswered: boolean): void;
}

/** A header block that ends a call (literals alone); or the call goes on; or nobody counts it. */
export type Verdict =
  | { readonly refusal: Buffer }
  | { readonly call: OpenCall }
  | { readonly isUncounted: true };

export interface GateWires {
  readonly toServer: (bytes: Buffer) => void;
  readonly toClient: (bytes: Buffer) => void;
  readonly judge: (head: CallHead) => Verdict;
}

/** An open stream as the server knows it. */
interface Stream {
  readonly call: OpenCall | undefined;
  hasClientEnded: boolean;
  hasServerEnded: boolean;
}

/** What the server takes as one frame (SETTINGS_MAX_FRAME_SIZE, which stays at its default). */
const FRAME_BYTES_MAX = 16_384;
const CREDIT_BYTES_MIN = 16_384;
const EMPTY = Buffer.alloc(0);

/**
 * Stands between a connection's bytes and the HTTP/2 server and ends calls before the server knows
 * of them, for a tenth of what the server's own refusal costs. Everything else passes unchanged.
 *
 * Its first frame asks the client to keep no table of headers (HPACK), so that a block can be read
 * alone and left out. Until the client has acknowledged that, and for blocks that do not stand
 * alone, calls pass unjudged. Frames of refused calls are swallowed; what their DATA took of the
 * connection's window is given back. No input or output of its own.
 */
export class FrameGate {
  /** Of client frames, bytes that are not a whole frame yet. */
  private rest: Buffer = EMPTY;
  private prefaceLeft = PREFACE_BYTES;
  /** What the server does not take as HTTP/2 goes to it as it is: it ends the connection. */
  private isOpaque = false;
  private isAgreed = false;
  /** Streams that the server knows and that have not ended on both sides. */
  private readonly streams = new Map<number, Stream>();
  /** A header block of several frames is on its way to the server. */
  private isInBlock = false;
  private credit = 0;
  /** Bytes of the server's frame under way that are still to come, and its head so far. */
  private serverLeft = 0;
  private serverHead: Buffer = EMPTY;
  private held: Buffer[] = [];

  constructor(private readonly wires: GateWires) {
    wires.toClient(noHeaderTable());
  }

  /** What the client's side of the connection brought. */
  fromClient(chunk: Buffer): void {
    if (this.isOpaque) {
      this.wires.toServer(chunk);
      return;
    }
    const bytes = this.rest.length === 0 ? chunk : Buffer.concat([this.rest, chunk]);
    let at = Math.min(this.prefaceLeft, bytes.length);
    this.prefaceLeft -= at;
    let passed = 0;
    while (bytes.length - at >= FRAME_HEADER_BYTES) {
      const head = frameHead(bytes, at);
      const end = at + FRAME_HEADER_BYTES + head.length;
      this.isOpaque = head.length > FRAME_BYTES_MAX;
      if (bytes.length < end || this.isOpaque) break;
      const payload = bytes.subarray(at + FRAME_HEADER_BYTES, end);
      if (!this.passes(head, payload, bytes, end)) {
        if (at > passed) this.wires.toServer(bytes.subarray(passed, at));
        passed = end;
      }
      at = end;
    }
    const whole = this.isOpaque ? bytes.length : at;
    if (whole > passed) this.wires.toServer(bytes.subarray(passed, whole));
    this.rest = whole === bytes.length ? EMPTY : Buffer.from(bytes.subarray(whole));
    this.giveBack();
  }

  /** What the server writes: passed on, with the ends of calls noted. */
  fromServer(chunk: Buffer): void {
    this.wires.toClient(chunk);
    let at = 0;
    while (at < chunk.length) {
      if (this.serverLeft > 0) {
        const taken = Math.min(this.serverLeft, chunk.length - at);
        this.serverLeft -= taken;
        at += taken;
        continue;
      }
      const wanted = FRAME_HEADER_BYTES - this.serverHead.length;
      const part = chunk.subarray(at, at + wanted);
      this.serverHead =
        this.serverHead.length === 0 ? part : Buffer.concat([this.serverHead, part]);
      at += part.length;
      if (this.serverHead.length < FRAME_HEADER_BYTES) {
        this.serverHead = Buffer.from(this.serverHead);
        break;
      }
      const head = frameHead(this.serverHead, 0);
      this.serverHead = EMPTY;
      this.serverLeft = head.length;
      this.noteServerFrame(head);
    }
    if (this.isServerBetweenFrames) this.release();
  }

  /** The connection has gone. */
  close(): void {
    for (const { call } of this.streams.values()) call?.end(false);
    this.streams.clear();
  }

  private get isServerBetweenFrames(): boolean {
    return this.serverLeft === 0 && this.serverHead.length === 0;
  }

  /** Whether the server gets the frame. `all` from `end` on is what follows it. */
  private passes(head: FrameHead, payload: Buffer, all: Buffer, end: number): boolean {
    const { type, flags, stream } = head;
    if (this.isInBlock) {
      this.isInBlock = (flags & Flag.END_HEADERS) === 0;
      return true;
    }
    if (type === FrameType.SETTINGS && (flags & Flag.ACK) !== 0 && !this.isAgreed) {
      // The first one answers the gate's own frame, of which the server knows nothing.
      this.isAgreed = true;
      return false;
    }
    if (stream === 0) return true;
    const known = this.streams.get(stream);
    if (known !== undefined) {
      this.noteClientFrame(head, known);
      return true;
    }
    if (type === FrameType.HEADERS) return this.begins(head, payload, all, end);
    if (type === FrameType.DATA) this.credit += head.length;
    // Of a call that was refused or is over.
    return false;
  }

  private begins(head: FrameHead, payload: Buffer, all: Buffer, end: number): boolean {
    const { flags, stream } = head;
    const isWhole = (flags & Flag.END_HEADERS) !== 0;
    const verdict = this.isAgreed && isWhole ? this.judged(head, payload, all, end) : undefined;
    if (verdict !== undefined && 'refusal' in verdict) {
      const ending = Flag.END_HEADERS | Flag.END_STREAM;
      this.answer(frame(FrameType.HEADERS, ending, stream, verdict.refusal));
      return false;
    }
    const call = verdict !== undefined && 'call' in verdict ? verdict.call : undefined;
    const hasClientEnded = (flags & Flag.END_STREAM) !== 0;
    this.streams.set(stream, { call, hasClientEnded, hasServerEnded: false });
    this.isInBlock = !isWhole;
    return true;
  }

  private judged(head: FrameHead, payload: Buffer, all: Buffer, end: number): Verdict | undefined {
    const block = contentOf(head, payload);
    const headers = block === undefined ? undefined : requestHeaders(block);
    if (headers?.path === undefined) return undefined;
    const { path, timeoutMs } = headers;
    return this.wires.judge({ path, timeoutMs, message: messageAt(all, end, head.stream) });
  }

  private noteClientFrame({ type, flags, stream }: FrameHead, known: Stream): void {
    if (type === FrameType.RST_STREAM) this.over(stream, known, known.hasServerEnded);
    const carries = type === FrameType.DATA || type === FrameType.HEADERS;
    if (!carries) return;
    if (type === FrameType.HEADERS) this.isInBlock = (flags & Flag.END_HEADERS) === 0;
    if ((flags & Flag.END_STREAM) === 0) return;
    known.hasClientEnded = true;
    if (known.hasServerEnded) this.over(stream, known, true);
  }

  private noteServerFrame({ type, flags, stream }: FrameHead): void {
    const known = this.streams.get(stream);
    if (known === undefined) return;
    const carries = type === FrameType.DATA || type === FrameType.HEADERS;
    const ends = carries && (flags & Flag.END_STREAM) !== 0;
    if (type === FrameType.RST_STREAM) this.over(stream, known, true);
    else if (ends) {
      known.hasServerEnded = true;
      known.call?.end(true);
      if (known.hasClientEnded) this.streams.delete(stream);
      else this.streams.set(stream, { ...known, call: undefined });
    }
  }

  private over(stream: number, { call }: Stream, isAnswered: boolean): void {
    this.streams.delete(stream);
    call?.end(isAnswered);
  }

  private giveBack(): void {
    if (this.credit < CREDIT_BYTES_MIN) return;
    this.answer(windowUpdate(0, this.credit));
    this.credit = 0;
  }

  /** The gate's own frames never cut one of the server's. */
  private answer(bytes: Buffer): void {
    this.held.push(bytes);
    if (this.isServerBetweenFrames) this.release();
  }

  private release(): void {
    if (this.held.length === 0) return;
    const held = this.held;
    this.held = [];
    for (const bytes of held) this.wires.toClient(bytes);
  }
}

/** The content of a DATA frame of the stream that begins at `at` and is there as a whole. */
function messageAt(bytes: Buffer, at: number, stream: number): Buffer | undefined {
  if (bytes.length - at < FRAME_HEADER_BYTES) return undefined;
  const head = frameHead(bytes, at);
  const begin = at + FRAME_HEADER_BYTES;
  const isMessage = head.type === FrameType.DATA && head.stream === stream;
  if (!isMessage || bytes.length < begin + head.length) return undefined;
  return contentOf(head, bytes.subarray(begin, begin + head.length));
}
