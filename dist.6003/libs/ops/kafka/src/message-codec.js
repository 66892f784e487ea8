import { expecting } from "../../errors/src/index.js";
import protobuf from "protobufjs";
/** As the types of libs/ops/contracts state: numbers for int64 and enums, defaults filled in. */ const MESSAGE_SHAPE = {
    longs: Number,
    enums: Number,
    defaults: true,
    arrays: true,
    objects: true,
    oneofs: false
};
const LENGTH_DELIMITED = 2;
/** A zero byte and the number of a schema, before what the serialiser of a registry writes. */ const CONFLUENT_HEADER_BYTES = 5;
const invalid = expecting('REQUEST_INVALID');
/** Protobuf messages of one type as the bytes of a record. */ export class MessageCodec {
    type;
    /** `schema`: protoSchema (@tessera/contracts); `name`: e.g. `tessera.recall.v1.RecallRequest`. */ constructor(schema, name){
        this.type = protobuf.Root.fromJSON(schema).lookupType(name);
    }
    encode(message) {
        const writer = this.type.encode(this.type.fromObject(message));
        return Buffer.from(writer.finish());
    }
    /** @throws TesseraError REQUEST_INVALID when the bytes are no such message */ decode(bytes) {
        if (bytes === null || bytes.length === 0) throw this.refusal('nothing');
        if (bytes[0] === 0 && bytes.length >= CONFLUENT_HEADER_BYTES) {
            const schema = new DataView(bytes.buffer, bytes.byteOffset).getUint32(1);
            throw this.refusal(`Confluent's wire format (schema ${schema}): use a serialiser without it`);
        }
        try {
            refuseFieldZero(protobuf.Reader.create(bytes), this.type, bytes.length);
            return withoutNulls(this.type.toObject(this.type.decode(bytes), MESSAGE_SHAPE));
        } catch (cause) {
            throw this.refusal(cause instanceof Error ? cause.message : String(cause), cause);
        }
    }
    refusal(got, cause) {
        return invalid('value', `a plain protobuf ${this.type.fullName.slice(1)}`, got, cause);
    }
}
/** protobufjs reads over fields of number 0, which no message has: bytes of another format. */ function refuseFieldZero(reader, type, end) {
    while(reader.pos < end){
        const at = reader.pos;
        const tag = reader.uint32();
        if (tag >>> 3 === 0) throw new Error(`a field of number 0 at byte ${at}`);
        const resolved = type?.fieldsById[tag >>> 3]?.resolve().resolvedType;
        if ((tag & 7) === LENGTH_DELIMITED && resolved instanceof protobuf.Type) {
            const inner = reader.uint32() + reader.pos;
            refuseFieldZero(reader, resolved, Math.min(inner, end));
        } else {
            reader.skipType(tag & 7);
        }
    }
}
/** protobufjs has null for a message that is not there; types have nothing. */ function withoutNulls(message) {
    for (const [name, value] of Object.entries(message)){
        if (value === null) delete message[name];
        else if (typeof value === 'object') withoutNulls(value);
    }
    return message;
}

//# sourceMappingURL=message-codec.js.map