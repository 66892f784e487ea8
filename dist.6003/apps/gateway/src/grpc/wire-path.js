/** Wire types of protobuf (protobuf.dev, "Encoding"). */ const WireType = {
    VARINT: 0,
    FIXED64: 1,
    BYTES: 2,
    FIXED32: 5
};
const VARINT_BYTES_MAX = 10;
/** A place in a message; goes no further where the bytes are no message. */ let Reader = class Reader {
    bytes;
    at = 0;
    constructor(bytes){
        this.bytes = bytes;
    }
    /** Undefined: there is none. */ varint() {
        let value = 0;
        for(let read = 0, scale = 1; read < VARINT_BYTES_MAX; read += 1, scale *= 128){
            const byte = this.bytes[this.at];
            if (byte === undefined) return undefined;
            this.at += 1;
            value += (byte & 0x7f) * scale;
            if (byte < 0x80) return value;
        }
        return undefined;
    }
    /** Passes over a value. @returns its bytes where it has a length; null: the message is cut off */ value(wireType) {
        if (wireType === WireType.VARINT) return this.varint() === undefined ? null : undefined;
        if (wireType === WireType.FIXED64) return this.skip(8);
        if (wireType === WireType.FIXED32) return this.skip(4);
        if (wireType !== WireType.BYTES) return null;
        const length = this.varint();
        if (length === undefined || this.at + length > this.bytes.length) return null;
        const from = this.at;
        this.at += length;
        return this.bytes.subarray(from, this.at);
    }
    skip(count) {
        this.at += count;
        return this.at > this.bytes.length ? null : undefined;
    }
};
/**
 * The fields of a number that have a length, without decoding anything else. Null: the bytes are
 * no whole message, which the node refuses in its own words.
 */ export function fieldsAt(message, number) {
    const reader = new Reader(message);
    const found = [];
    while(reader.at < message.length){
        const from = reader.at;
        const tag = reader.varint();
        if (tag === undefined || tag < 8) return null;
        const content = reader.value(tag % 8);
        if (content === null) return null;
        if (content !== undefined && Math.floor(tag / 8) === number) {
            found.push({
                content,
                from,
                to: reader.at
            });
        }
    }
    return found;
}
/**
 * The bytes of the text at a path of field numbers; of a field that is there several times the
 * last, a message too: the parser of the nodes merges none. Undefined: there is none, or it is
 * empty.
 */ export function textAt(message, path) {
    let content = message;
    for (const number of path){
        content = fieldsAt(content, number)?.at(-1)?.content;
        if (content === undefined) return undefined;
    }
    return content.length === 0 ? undefined : content;
}
/** A number of the message that is no text, of several the last; 0: there is none. */ export function numberAt(message, number) {
    const reader = new Reader(message);
    let found = 0;
    while(reader.at < message.length){
        const tag = reader.varint();
        if (tag === undefined || tag < 8) return 0;
        if (Math.floor(tag / 8) === number && tag % 8 === WireType.VARINT) {
            found = reader.varint() ?? 0;
        } else if (reader.value(tag % 8) === null) {
            return 0;
        }
    }
    return found;
}
function varintOf(value) {
    const bytes = [];
    let left = value;
    for(; left >= 0x80; left = Math.floor(left / 128))bytes.push(left % 128 + 0x80);
    return [
        ...bytes,
        left
    ];
}
/** A number of a message as the wire has it. */ export function numberFieldOf(number, value) {
    return Buffer.from([
        ...varintOf(number * 8 + WireType.VARINT),
        ...varintOf(value)
    ]);
}
/** A field of a number with these bytes, as the wire has it. */ export function fieldOf(number, content) {
    const head = [
        ...varintOf(number * 8 + WireType.BYTES),
        ...varintOf(content.length)
    ];
    return Buffer.concat([
        Buffer.from(head),
        content
    ]);
}
/** The message without the fields. */ export function without(message, fields) {
    const kept = [];
    let at = 0;
    for (const { from, to } of fields){
        kept.push(message.subarray(at, from));
        at = to;
    }
    return Buffer.concat([
        ...kept,
        message.subarray(at)
    ]);
}

//# sourceMappingURL=wire-path.js.map