/**
 * The few frames of HTTP/2 (RFC 9113) that a load generator needs, written and read as bytes: a
 * client library costs more of the shared cores for a call than the service does for a refusal.
 */ const FRAME_HEADER_BYTES = 9;
export const FrameType = {
    DATA: 0,
    HEADERS: 1,
    RST_STREAM: 3,
    SETTINGS: 4,
    PING: 6,
    GOAWAY: 7,
    WINDOW_UPDATE: 8
};
export const Flag = {
    END_STREAM: 1,
    ACK: 1,
    END_HEADERS: 4
};
export const Setting = {
    HEADER_TABLE_SIZE: 1,
    MAX_CONCURRENT_STREAMS: 3,
    INITIAL_WINDOW_SIZE: 4
};
export const ErrorCode = {
    REFUSED_STREAM: 7,
    CANCEL: 8
};
const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const SETTING_BYTES = 6;
export function frame(type, flags, stream, payload) {
    const bytes = Buffer.allocUnsafe(FRAME_HEADER_BYTES + payload.length);
    bytes.writeUIntBE(payload.length, 0, 3);
    bytes[3] = type;
    bytes[4] = flags;
    bytes.writeUInt32BE(stream, 5);
    payload.copy(bytes, FRAME_HEADER_BYTES);
    return bytes;
}
function number32(value) {
    const bytes = Buffer.allocUnsafe(4);
    bytes.writeUInt32BE(value);
    return bytes;
}
export function windowUpdate(stream, bytes) {
    return frame(FrameType.WINDOW_UPDATE, 0, stream, number32(bytes));
}
export function resetStream(stream, code) {
    return frame(FrameType.RST_STREAM, 0, stream, number32(code));
}
export function acknowledgement(type, payload) {
    return frame(type, Flag.ACK, 0, payload);
}
/** Preface and settings of a client whose peer uses no dynamic table for the answers' headers. */ export function greeting(windowBytes) {
    const settings = Buffer.concat([
        [
            Setting.HEADER_TABLE_SIZE,
            0
        ],
        [
            Setting.INITIAL_WINDOW_SIZE,
            windowBytes
        ]
    ].map(([id, value])=>{
        const bytes = Buffer.allocUnsafe(SETTING_BYTES);
        bytes.writeUInt16BE(id);
        bytes.writeUInt32BE(value, 2);
        return bytes;
    }));
    const connection = windowUpdate(0, windowBytes);
    return Buffer.concat([
        PREFACE,
        frame(FrameType.SETTINGS, 0, 0, settings),
        connection
    ]);
}
/** Values of a SETTINGS payload by identifier. */ export function settingsOf(payload) {
    const settings = new Map();
    for(let at = 0; at + SETTING_BYTES <= payload.length; at += SETTING_BYTES){
        settings.set(payload.readUInt16BE(at), payload.readUInt32BE(at + 2));
    }
    return settings;
}
/** HPACK (RFC 7541) literals without indexing and without Huffman codes: they keep no state. */ export function headerBlock(fields) {
    const text = (value)=>{
        const bytes = Buffer.from(value);
        if (bytes.length > 126) throw new Error(`header of ${bytes.length} bytes, expected at most 126`);
        return Buffer.concat([
            Buffer.of(bytes.length),
            bytes
        ]);
    };
    return Buffer.concat(Object.entries(fields).flatMap(([name, value])=>[
            Buffer.of(0),
            text(name),
            text(value)
        ]));
}
/** The header fields of a gRPC call. */ export function callFields(address, path) {
    return {
        ':method': 'POST',
        ':scheme': 'http',
        ':path': path,
        ':authority': address,
        'content-type': 'application/grpc',
        te: 'trailers'
    };
}
/** `grpc-status` as the Huffman code of RFC 7541 writes it, which every common encoder uses. */ const STATUS_NAME = Buffer.from('9acac8b21234da8f', 'hex');
const STATUS_NAME_PLAIN = Buffer.from('grpc-status');
const DIGIT_ZERO = 0x30;
/** The gRPC status of a header block; undefined where it has none. */ export function statusOf(block) {
    for (const name of [
        STATUS_NAME,
        STATUS_NAME_PLAIN
    ]){
        const found = block.indexOf(name);
        if (found < 0) continue;
        const at = found + name.length;
        const length = block[at] ?? 0;
        let status = 0;
        // A Huffman code is longer than one or two digits: they stand as they are.
        for(let i = 1; i <= length; i++)status = status * 10 + ((block[at + i] ?? 0) - DIGIT_ZERO);
        return status;
    }
    return undefined;
}
/** Cuts what a socket brings into frames. */ export class FrameReader {
    rest = Buffer.alloc(0);
    /** Calls back for each frame that is complete; its payload is only good during the call. */ read(chunk, onFrame) {
        let bytes = this.rest.length === 0 ? chunk : Buffer.concat([
            this.rest,
            chunk
        ]);
        while(bytes.length >= FRAME_HEADER_BYTES){
            const end = FRAME_HEADER_BYTES + bytes.readUIntBE(0, 3);
            if (bytes.length < end) break;
            onFrame({
                type: bytes[3],
                flags: bytes[4],
                stream: bytes.readUInt32BE(5) & 0x7fffffff,
                payload: bytes.subarray(FRAME_HEADER_BYTES, end)
            });
            bytes = bytes.subarray(end);
        }
        this.rest = Buffer.from(bytes);
    }
}

//# sourceMappingURL=http2-frames.js.map