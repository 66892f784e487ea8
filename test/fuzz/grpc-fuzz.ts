/** Messages by the grammar of the protos, with hostile values, to every method over gRPC. */

import * as grpc from '@grpc/grpc-js';
import { protoSchema } from '@tessera/contracts';
import protobuf from 'protobufjs';
import type { HostileValues } from './hostile-values.js';

const CALL_MS = 60_000;
const DEPTH_MAX = 5;
/** A chain of messages inside each other, for those that can hold themselves. */
const DEEP = 400;
const MESSAGES_MAX = 4;
const INTEGERS = /^(u|s)?(int|fixed)(32|64)$/;
/** Statuses that name no fault of the service, though no code of Tessera's comes with them. */
const UNTYPED = new Set([grpc.status.OK, grpc.status.CANCELLED, grpc.status.UNIMPLEMENTED]);
/** Refused by gRPC itself, before the message is read. */
const TOO_LARGE = /^Received message larger than max/;

interface Target {
  readonly path: string;
  readonly type: protobuf.Type;
  readonly asksMany: boolean;
  readonly answersMany: boolean;
}

const isRecursive = (type: protobuf.Type, seen = new Set<protobuf.Type>()): boolean =>
  seen.has(type) ||
  type.fieldsArray.some(
    ({ resolvedType }) =>
      resolvedType instanceof protobuf.Type && isRecursive(resolvedType, new Set([...seen, type])),
  );

export class GrpcFuzz {
  private readonly targets: readonly Target[];
  private readonly client: grpc.Client;

  constructor(
    address: string,
    private readonly values: HostileValues,
  ) {
    this.client = new grpc.Client(address, grpc.credentials.createInsecure(), {
      'grpc.max_receive_message_length': -1,
    });
    const root = protobuf.Root.fromJSON(protoSchema as protobuf.INamespace);
    root.resolveAll();
    this.targets = servicesOf(root).flatMap((service) =>
      service.methodsArray.map((method) => ({
        path: `/${service.fullName.slice(1)}/${method.name}`,
        type: method.resolvedRequestType as protobuf.Type,
        asksMany: method.requestStream === true,
        answersMany: method.responseStream === true,
      })),
    );
  }

  /** Sends one; the fault in words where the service did other than answer or refuse by a code. */
  async send(): Promise<string | undefined> {
    const target = this.values.one(this.targets);
    const count = target.asksMany ? this.values.below(MESSAGES_MAX) : 1;
    const messages = Array.from({ length: count }, () => this.encoded(target.type));
    const error = await this.called(target, messages);
    if (error === undefined || UNTYPED.has(error.code)) return undefined;
    if (TOO_LARGE.test(error.details)) return undefined;
    const code = error.metadata.get('tessera-code')[0]?.toString();
    const isFault = code === undefined || code === 'INTERNAL' || error.code === grpc.status.UNKNOWN;
    if (!isFault) return undefined;
    const shown = messages.map((message) => message.toString('base64').slice(0, 400)).join(' ');
    return `${target.path}: ${error.code} ${code} ${error.details.slice(0, 200)}: ${shown}`;
  }

  close(): void {
    this.client.close();
  }

  private encoded(type: protobuf.Type): Buffer {
    const message = type.encode(this.message(type, 0)).finish();
    const bytes = Buffer.from(message);
    return this.values.chance(12) ? this.values.damaged(bytes) : bytes;
  }

  private message(type: protobuf.Type, depth: number): Record<string, unknown> {
    const { values } = this;
    if (depth === 1 && values.chance(40) && isRecursive(type)) return this.deep(type);
    const made: Record<string, unknown> = {};
    for (const field of type.fieldsArray) {
      if (values.chance(2) || depth > DEPTH_MAX) continue;
      made[field.name] = this.field(field.resolve(), depth);
    }
    // Of a oneof the last on the wire counts; most callers set one.
    for (const { fieldsArray } of type.oneofsArray) {
      const [kept] = fieldsArray.filter(({ name }) => name in made);
      if (values.chance(10)) continue;
      for (const { name } of fieldsArray) if (name !== kept?.name) delete made[name];
    }
    return made;
  }

  /** The first field that leads back to the message, again and again. */
  private deep(type: protobuf.Type): Record<string, unknown> {
    const field = type.fieldsArray.find(({ resolvedType }) => resolvedType === type);
    const made = this.message(type, DEPTH_MAX);
    if (field === undefined) return made;
    return Array.from({ length: DEEP }).reduce<Record<string, unknown>>(
      (inner) => ({ [field.name]: field.repeated ? [inner] : inner }),
      made,
    );
  }

  private field(field: protobuf.Field, depth: number): unknown {
    if (field.map) {
      const entries = Array.from({ length: this.values.count() }, (_, at) => [
        `${this.values.text()}${at}`,
        this.value(field, depth),
      ]);
      return Object.fromEntries(entries);
    }
    if (!field.repeated) return this.value(field, depth);
    const count = depth > 2 ? 1 : this.values.count();
    return Array.from({ length: count }, () => this.value(field, depth));
  }

  private value({ type, resolvedType }: protobuf.Field, depth: number): unknown {
    const { values } = this;
    if (resolvedType instanceof protobuf.Enum) return values.below(10);
    if (resolvedType instanceof protobuf.Type) return this.message(resolvedType, depth + 1);
    if (type === 'string') return values.text();
    if (type === 'bytes') return values.bytes();
    if (type === 'bool') return values.chance(2);
    if (INTEGERS.test(type)) return Math.trunc(values.number());
    return values.double();
  }

  private called(target: Target, messages: readonly Buffer[]) {
    return new Promise<grpc.ServiceError | undefined>((resolve) => {
      const bytes = (value: Buffer) => value;
      const options = { deadline: Date.now() + CALL_MS };
      const done = (error: grpc.ServiceError | null) => resolve(error ?? undefined);
      const { path, asksMany, answersMany } = target;
      const method = [path, bytes, bytes] as const;
      const none = new grpc.Metadata();
      const [first = Buffer.alloc(0)] = messages;
      if (!asksMany && !answersMany) {
        this.client.makeUnaryRequest(...method, first, none, options, done);
        return;
      }
      const call = asksMany
        ? answersMany
          ? this.client.makeBidiStreamRequest(...method, none, options)
          : this.client.makeClientStreamRequest(...method, none, options, done)
        : this.client.makeServerStreamRequest(...method, first, none, options);
      call.on('error', (error) => done(error as grpc.ServiceError));
      if ('read' in call) {
        call.on('data', () => undefined);
        call.on('end', () => done(null));
      }
      if ('write' in call) {
        for (const message of messages) call.write(message);
        call.end();
      }
    });
  }
}

function servicesOf(space: protobuf.NamespaceBase): protobuf.Service[] {
  return space.nestedArray.flatMap((one) => {
    if (one instanceof protobuf.Service) return [one];
    return one instanceof protobuf.Namespace ? servicesOf(one) : [];
  });
}
