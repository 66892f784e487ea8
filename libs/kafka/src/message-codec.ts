import { TesseraError } from '@tessera/errors';
import protobuf from 'protobufjs';

/** As the types of libs/contracts state: numbers for int64 and enums, defaults filled in. */
const MESSAGE_SHAPE: protobuf.IConversionOptions = {
  longs: Number,
  enums: Number,
  defaults: true,
  arrays: true,
  objects: true,
  oneofs: false,
};

/** Protobuf messages of one type as the bytes of a record. */
export class MessageCodec<Message extends object> {
  private readonly type: protobuf.Type;

  /** `schema`: protoSchema of libs/contracts; `name`: e.g. `tessera.recall.v1.RecallRequest`. */
  constructor(schema: object, name: string) {
    this.type = protobuf.Root.fromJSON(schema as protobuf.INamespace).lookupType(name);
  }

  encode(message: Message): Buffer {
    const writer = this.type.encode(this.type.fromObject(message));
    return Buffer.from(writer.finish());
  }

  /** @throws TesseraError REQUEST_INVALID when the bytes are no such message */
  decode(bytes: Uint8Array | null): Message {
    if (bytes === null || bytes.length === 0) throw this.invalid('nothing');
    try {
      return this.type.toObject(this.type.decode(bytes), MESSAGE_SHAPE) as Message;
    } catch (cause) {
      throw this.invalid(cause instanceof Error ? cause.message : String(cause), cause);
    }
  }

  private invalid(got: string, cause?: unknown): TesseraError {
    const message = `value: expected a ${this.type.fullName.slice(1)}, got: ${got}`;
    return new TesseraError('REQUEST_INVALID', message, { field: 'value', cause });
  }
}
