/**
 * Goes through the top fields of a protobuf message without decoding it: number, of a varint its
 * value, and the length of bytes; 0 of others. Bytes that are no message are gone through as far as
 * they are one.
 */ export function eachField(bytes, onField) {
    let at = 0;
    const varint = ()=>{
        let value = 0;
        for(let scale = 1; at < bytes.length; scale *= 128){
            const byte = bytes[at++];
            value += (byte & 0x7f) * scale;
            if ((byte & 0x80) === 0) return value;
        }
        return Number.NaN;
    };
    while(at < bytes.length){
        const tag = varint();
        const field = Math.floor(tag / 8);
        switch(tag % 8){
            case WireType.VARINT:
                onField(field, varint(), 0);
                break;
            case WireType.FIXED64:
                at += 8;
                onField(field, undefined, 0);
                break;
            case WireType.BYTES:
                {
                    const length = varint();
                    at += length;
                    onField(field, undefined, length);
                    break;
                }
            case WireType.FIXED32:
                at += 4;
                onField(field, undefined, 0);
                break;
            default:
                return;
        }
    }
}
const WireType = {
    VARINT: 0,
    FIXED64: 1,
    BYTES: 2,
    FIXED32: 5
};

//# sourceMappingURL=wire-fields.js.map