import { once } from "node:events";
import { connect } from "node:net";
import { acknowledgement, callFields, ErrorCode, Flag, FrameReader, FrameType, frame, greeting, headerBlock, resetStream, Setting, settingsOf, statusOf, windowUpdate } from "./http2-frames.js";
export const CANCELLED_BY_CALLER = 1;
const WINDOW_BYTES = 2 ** 30;
const FIRST_WINDOW_BYTES = 65_535;
const MESSAGE_HEADER_BYTES = 5;
/** Unary calls of one method over one HTTP/2 connection, without TLS. */ export class GrpcConnection {
    socket;
    fields;
    keepsAnswers;
    reader = new FrameReader();
    calls = new Map();
    nextStream = 1;
    out = [];
    sendWindow = FIRST_WINDOW_BYTES;
    taken = 0;
    isOpen = true;
    streamsMax = Number.POSITIVE_INFINITY;
    constructor(socket, fields, keepsAnswers){
        this.socket = socket;
        this.fields = fields;
        this.keepsAnswers = keepsAnswers;
        socket.on('data', (chunk)=>{
            this.reader.read(chunk, (one)=>this.take(one));
            this.flush();
        });
        socket.on('error', ()=>undefined);
        socket.on('close', ()=>{
            this.isOpen = false;
            for (const { onEnd } of this.calls.values())onEnd({
                lost: true
            });
            this.calls.clear();
        });
    }
    static async open(address, path, { headers = {}, keepsAnswers = false } = {}) {
        const [host, port] = address.split(':');
        const socket = connect({
            host,
            port: Number(port),
            noDelay: true
        });
        await once(socket, 'connect');
        const fields = {
            ...callFields(address, path),
            ...headers
        };
        const connection = new GrpcConnection(socket, fields, keepsAnswers);
        socket.write(greeting(WINDOW_BYTES));
        return connection;
    }
    get inFlight() {
        return this.calls.size;
    }
    /** True if a call may begin now: as many as the server allows, within its window. */ hasRoom(message) {
        const isBelowLimit = this.calls.size < this.streamsMax;
        return this.isOpen && isBelowLimit && this.sendWindow >= message.length + MESSAGE_HEADER_BYTES;
    }
    /**
   * Begins a call. flush() sends it, as does the end of what the socket brings at a time. The
   * returned function cancels it as a client does whose deadline has passed.
   */ begin(message, timeoutMs, onEnd) {
        const stream = this.nextStream;
        this.nextStream += 2;
        const head = headerBlock({
            ...this.fields,
            'grpc-timeout': `${Math.ceil(timeoutMs)}m`
        });
        const body = Buffer.allocUnsafe(MESSAGE_HEADER_BYTES + message.length);
        body[0] = 0;
        body.writeUInt32BE(message.length, 1);
        message.copy(body, MESSAGE_HEADER_BYTES);
        this.out.push(frame(FrameType.HEADERS, Flag.END_HEADERS, stream, head), frame(FrameType.DATA, Flag.END_STREAM, stream, body));
        this.sendWindow -= body.length;
        this.calls.set(stream, {
            onEnd,
            parts: this.keepsAnswers ? [] : undefined
        });
        return ()=>{
            if (!this.calls.delete(stream)) return;
            this.out.push(resetStream(stream, ErrorCode.CANCEL));
            onEnd({
                status: CANCELLED_BY_CALLER
            });
        };
    }
    flush() {
        if (this.out.length === 0) return;
        if (this.isOpen) this.socket.write(Buffer.concat(this.out));
        this.out = [];
    }
    close() {
        this.socket.destroy();
    }
    take({ type, flags, stream, payload }) {
        switch(type){
            case FrameType.HEADERS:
                {
                    const status = statusOf(payload);
                    if (status !== undefined) this.end(stream, {
                        status,
                        answer: this.answerOf(stream)
                    });
                    break;
                }
            case FrameType.DATA:
                this.calls.get(stream)?.parts?.push(Buffer.from(payload));
                this.taken += payload.length;
                if (this.taken >= WINDOW_BYTES / 2) {
                    this.out.push(windowUpdate(0, this.taken));
                    this.taken = 0;
                }
                break;
            case FrameType.RST_STREAM:
                this.end(stream, {
                    reset: payload.readUInt32BE(0)
                });
                break;
            case FrameType.SETTINGS:
                if ((flags & Flag.ACK) !== 0) break;
                this.streamsMax = settingsOf(payload).get(Setting.MAX_CONCURRENT_STREAMS) ?? this.streamsMax;
                this.out.push(acknowledgement(FrameType.SETTINGS, Buffer.alloc(0)));
                this.flush();
                break;
            case FrameType.PING:
                if ((flags & Flag.ACK) === 0) this.out.push(acknowledgement(FrameType.PING, payload));
                break;
            case FrameType.WINDOW_UPDATE:
                if (stream === 0) this.sendWindow += payload.readUInt32BE(0);
                break;
            default:
                break;
        }
    }
    answerOf(stream) {
        const parts = this.calls.get(stream)?.parts;
        return parts && Buffer.concat(parts).subarray(MESSAGE_HEADER_BYTES);
    }
    end(stream, end) {
        const call = this.calls.get(stream);
        this.calls.delete(stream);
        call?.onEnd(end);
    }
}

//# sourceMappingURL=grpc-connection.js.map