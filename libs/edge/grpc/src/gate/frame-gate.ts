import type { DirectStreams } from '../direct/direct-streams.js';
import {
  CREDIT_BYTES_MIN,
  contentOf,
  ErrorCode,
  Flag,
  FRAME_BYTES_MAX,
  FRAME_HEADER_BYTES,
  type FrameHead,
  FrameType,
  frame,
  frameHead,
  noHeaderTable,
  PREFACE_BYTES,
  resetStream,
  windowUpdate,
} from './frames.js';
import type { OpenCall } from './open-call.js';
import { type RequestHeaders, requestHeaders } from './request-headers.js';

/** A call as its first bytes show it. */
export interface CallHead {
  readonly path: string;
  /** Infinity: no deadline. */
  readonly timeoutMs: number;
  /** The first message with its length before it; undefined where it arrived later. */
  readonly message: Buffer | undefined;
}

/** A header block that ends a call (literals alone); or the call goes on; or none counts it. */
export type GateDecision =
  | { readonly refusal: Buffer }
  | { readonly call: OpenCall }
  | { readonly isUncounted: true };

export interface GateWires {
  readonly toServer: (bytes: Buffer) => void;
  readonly toClient: (bytes: Buffer) => void;
  readonly decide: (head: CallHead) => GateDecision;
  /** Calls that are answered without the server; left out: none. */
  readonly direct?: DirectStreams | undefined;
  /** Calls at once of the connection, both kinds together. */
  readonly streamsMax: number;
}

/** An open stream as the server knows it. */
interface Stream {
  hasClientEnded: boolean;
  hasServerEnded: boolean;
}

/** Of a GOAWAY's payload: the greatest stream that is answered. */
const GOAWAY_BYTES_READ = 4;
const EMPTY = Buffer.alloc(0);

/**
 * Stands between a connection's bytes and the HTTP/2 server and ends calls before the server knows
 * of them, for a tenth of what the server's own refusal costs. Everything else passes unchanged.
 *
 * Its first frame asks the client to keep no table of headers (HPACK), so that a block can be read
 * alone and left out. Until the client has acknowledged that, and for blocks that do not stand
 * alone, calls pass without a decision. Frames of refused calls are swallowed; what their DATA took
 * of the connection's window is given back. No input or output of its own.
 */
export class FrameGate {
  /** Of client frames, bytes that are not a whole frame yet. */
  private rest: Buffer = EMPTY;
  private prefaceLeft = PREFACE_BYTES;
  /** Bytes that are not HTTP/2 go to the server as they are: it ends the connection. */
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
  /** Of the server's bytes, those that the client has not got yet. */
  private heldBack: Buffer = EMPTY;
  private held: Buffer[] = [];
  /** Frames of the gate for the server, behind the client's frame under way. */
  private forServer: Buffer[] = [];
  private isLeaving = false;
  private newest = 0;

  constructor(private readonly wires: GateWires) {
    wires.toClient(noHeaderTable());
  }

  /** Takes bytes from the client. */
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
        this.tellServer();
      }
      at = end;
    }
    const whole = this.isOpaque ? bytes.length : at;
    if (whole > passed) this.wires.toServer(bytes.subarray(passed, whole));
    this.rest = whole === bytes.length ? EMPTY : Buffer.from(bytes.subarray(whole));
    this.giveBack();
  }

  /**
   * Takes bytes from the server: passes them on and notes the ends of calls. A frame that is
   * changed on its way (GOAWAY) is held until what is changed of it is there.
   */
  fromServer(given: Buffer): void {
    const chunk = this.heldBack.length === 0 ? given : Buffer.concat([this.heldBack, given]);
    this.heldBack = EMPTY;
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
      if (head.type === FrameType.GOAWAY && chunk.length - at < GOAWAY_BYTES_READ) {
        // Back to where the head is whole: it is read again with what follows.
        at -= part.length;
        this.serverHead = Buffer.from(
          this.serverHead.subarray(0, FRAME_HEADER_BYTES - part.length),
        );
        this.heldBack = Buffer.from(chunk.subarray(at));
        break;
      }
      this.serverHead = EMPTY;
      this.serverLeft = head.length;
      this.noteServerFrame(head, chunk.subarray(at, at + head.length));
    }
    this.wires.toClient(this.heldBack.length === 0 ? chunk : chunk.subarray(0, at));
    if (this.isServerBetweenFrames) this.release();
  }

  /** The connection has gone. */
  close(): void {
    this.streams.clear();
    this.wires.direct?.close();
  }

  /** From now on the server alone gets new calls, and refuses them. */
  leave(): void {
    this.isLeaving = true;
  }

  /** A frame of the gate for the client: never inside one of the server's. */
  answer(bytes: Buffer): void {
    this.held.push(bytes);
    if (this.isServerBetweenFrames) this.release();
  }

  private get isServerBetweenFrames(): boolean {
    return this.serverLeft === 0 && this.serverHead.length === 0 && this.heldBack.length === 0;
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
    if (stream === 0) return this.passesToAll(head, payload);
    if (this.wires.direct?.has(stream)) {
      if (type === FrameType.DATA) this.credit += head.length;
      this.wires.direct.take(head, payload);
      return false;
    }
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
    const headers = this.isAgreed && isWhole ? headersOf(head, payload) : undefined;
    // Of a call that was refused, or is over.
    if (stream <= this.newest && headers !== undefined) return false;
    this.newest = Math.max(this.newest, stream);
    if (headers !== undefined && this.isFull) {
      this.answer(resetStream(stream, ErrorCode.REFUSED_STREAM));
      return false;
    }
    const decision = headers && this.decisionOn(headers, head, all, end);
    if (decision !== undefined && 'refusal' in decision) {
      const ending = Flag.END_HEADERS | Flag.END_STREAM;
      this.answer(frame(FrameType.HEADERS, ending, stream, decision.refusal));
      return false;
    }
    const call = decision !== undefined && 'call' in decision ? decision.call : undefined;
    const { direct } = this.wires;
    if (headers && !this.isLeaving && direct?.begins(head, headers, call) === true) return false;
    const hasClientEnded = (flags & Flag.END_STREAM) !== 0;
    // The edge that serves the call takes its place in admission.
    this.streams.set(stream, { hasClientEnded, hasServerEnded: false });
    this.isInBlock = !isWhole;
    return true;
  }

  private decisionOn(
    { path, timeoutMs }: RequestHeaders,
    head: FrameHead,
    all: Buffer,
    end: number,
  ): GateDecision | undefined {
    if (path === undefined) return undefined;
    return this.wires.decide({ path, timeoutMs, message: messageAt(all, end, head.stream) });
  }

  private noteClientFrame({ type, flags, stream }: FrameHead, known: Stream): void {
    if (type === FrameType.RST_STREAM) this.streams.delete(stream);
    const carries = type === FrameType.DATA || type === FrameType.HEADERS;
    if (!carries) return;
    if (type === FrameType.HEADERS) this.isInBlock = (flags & Flag.END_HEADERS) === 0;
    if ((flags & Flag.END_STREAM) === 0) return;
    known.hasClientEnded = true;
    if (known.hasServerEnded) this.streams.delete(stream);
  }

  /** Of frames that are of no stream; what the windows keep for the gate does not pass. */
  private passesToAll({ type, flags }: FrameHead, payload: Buffer): boolean {
    const { direct } = this.wires;
    if (direct === undefined) return true;
    if (type === FrameType.SETTINGS && (flags & Flag.ACK) === 0) direct.settings(payload);
    if (type !== FrameType.WINDOW_UPDATE || payload.length !== 4) return true;
    const granted = payload.readUInt32BE(0) & 0x7fff_ffff;
    if (granted === 0) return true;
    const passed = direct.windows.granted(granted);
    direct.pump();
    if (passed > 0) this.forServer.push(windowUpdate(0, passed));
    return false;
  }

  private tellServer(): void {
    if (this.forServer.length === 0) return;
    const frames = this.forServer;
    this.forServer = [];
    for (const bytes of frames) this.wires.toServer(bytes);
  }

  private get isFull(): boolean {
    const { direct, streamsMax } = this.wires;
    return this.streams.size + (direct?.size ?? 0) >= streamsMax;
  }

  /** The server knows of its own streams alone, and lends nothing by itself. */
  private noteForDirect(direct: DirectStreams, { type, length }: FrameHead, part: Buffer): void {
    if (type === FrameType.GOAWAY && part.length >= GOAWAY_BYTES_READ) {
      this.isLeaving = true;
      if (part.readUInt32BE(0) < direct.newest) part.writeUInt32BE(direct.newest, 0);
    }
    if (type !== FrameType.DATA) return;
    const lent = direct.windows.serverSent(length);
    if (lent === 0) return;
    this.forServer.push(windowUpdate(0, lent));
    // Not while it writes.
    process.nextTick(() => this.tellServer());
  }

  private noteServerFrame(head: FrameHead, part: Buffer): void {
    const { type, flags, stream } = head;
    if (this.wires.direct !== undefined) this.noteForDirect(this.wires.direct, head, part);
    const known = this.streams.get(stream);
    if (known === undefined) return;
    const carries = type === FrameType.DATA || type === FrameType.HEADERS;
    const ends = carries && (flags & Flag.END_STREAM) !== 0;
    known.hasServerEnded ||= ends;
    const hasEnded = known.hasServerEnded && known.hasClientEnded;
    if (type === FrameType.RST_STREAM || hasEnded) this.streams.delete(stream);
  }

  private giveBack(): void {
    if (this.credit < CREDIT_BYTES_MIN) return;
    this.answer(windowUpdate(0, this.credit));
    this.credit = 0;
  }

  private release(): void {
    if (this.held.length === 0) return;
    const held = this.held;
    this.held = [];
    for (const bytes of held) this.wires.toClient(bytes);
  }
}

function headersOf(head: FrameHead, payload: Buffer): RequestHeaders | undefined {
  const block = contentOf(head, payload);
  return block === undefined ? undefined : requestHeaders(block);
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
