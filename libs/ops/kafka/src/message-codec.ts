import { expecting, type TesseraError } from '@tessera/errors';
import protobuf from 'protobufjs';

/** Shape of messages in libs/ops/contracts: numbers for int64 and enums, defaults filled in. */
const MESSAGE_SHAPE: protobuf.IConversionOptions = {
  longs: Number,
  enums: Number,
  defaults: true,
  arrays: true,
  objects: true,
  oneofs: false,
};

const LENGTH_DELIMITED = 2;
/** A zero byte and the number of a schema, before what the serialiser of a registry writes. */
const CONFLUENT_HEADER_BYTES = 5;

const invalid = expecting('REQUEST_INVALID');

/** Protobuf messages of one type as the bytes of a record. */
export class MessageCodec<Message extends object> {
  private readonly type: protobuf.Type;

  /** `schema`: protoSchema (@tessera/contracts); `name`: e.g. `tessera.recall.v1.RecallRequest`. */
  constructor(schema: object, name: string) {
    this.type = protobuf.Root.fromJSON(schema as protobuf.INamespace).lookupType(name);
  }

  encode(message: Message): Buffer {
    const writer = this.type.encode(this.type.fromObject(message));
    return Buffer.from(writer.finish());
  }

  /** @throws TesseraError REQUEST_INVALID when the bytes are no such message */
  decode(bytes: Uint8Array | null): Message {
    if (bytes === null || bytes.length === 0) throw this.refusal('nothing');
    if (bytes[0] === 0 && bytes.length >= CONFLUENT_HEADER_BYTES) {
      const schema = new DataView(bytes.buffer, bytes.byteOffset).getUint32(1);
      throw this.refusal(`Confluent's wire format (schema ${schema}): use a serialiser without it`);
    }
    try {
      refuseFieldZero(protobuf.Reader.create(bytes), this.type, bytes.length);
      return withoutNulls(this.type.toObject(this.type.decode(bytes), MESSAGE_SHAPE)) as Message;
    } catch (cause) {
      throw this.refusal(cause instanceof Error ? cause.message : String(cause), cause);
    }
  }

  private refusal(got: string, cause?: unknown): TesseraError {
    return invalid('value', `a plain protobuf ${this.type.fullName.slice(1)}`, got, cause);
  }
}

/** protobufjs reads over fields of number 0, which no message has: bytes of another format. */
function refuseFieldZero(reader: protobuf.Reader, type: protobuf.Type | null, end: number): void {
  while (reader.pos < end) {
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

/** protobufjs has null for a message that is not there; types have nothing. */
function withoutNulls(message: Record<string, unknown>): object {
  for (const [name, value] of Object.entries(message)) {
    if (value === null) delete message[name];
    else if (typeof value === 'object') withoutNulls(value as Record<string, unknown>);
  }
  return message;
}
