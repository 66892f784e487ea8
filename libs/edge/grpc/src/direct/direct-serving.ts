import type { StatusObject } from '@grpc/grpc-js';
import type { MethodDefinition, PackageDefinition } from '@grpc/proto-loader';
import type { Credentials, Principal } from '@tessera/access';
import protobuf from 'protobufjs';
import type { DirectHandlers, DirectMethod, DirectServing } from './direct-method.js';

export interface DirectParts {
  readonly handlers: DirectHandlers;
  /** Handlers take and give messages as their bytes (Buffer) instead of objects. */
  readonly asBytes?: boolean;
  /** Schema with fields in camel case. */
  readonly schema: object;
  /** The caller. @throws TesseraError where they may not */
  readonly enter: (path: string, credentials: Credentials) => Principal;
  /** Of what a handler rejects with. */
  readonly statusOf: (thrown: unknown) => StatusObject;
  readonly loadClass?: DirectServing['loadClass'];
  readonly deadlineMsMax: number;
}

const AS_BYTES = {
  serialize: (message: object) => message as Uint8Array,
  deserialize: (bytes: Buffer) => bytes,
};

/**
 * The methods with their codecs. Answers are written from the mapper's objects as they are: the
 * codec of grpc-js makes a message of each first.
 * @throws Error for a handler of a method that the schema does not have
 */
export function directServing(
  { handlers, asBytes = false, schema, enter, statusOf, loadClass, deadlineMsMax }: DirectParts,
  served: PackageDefinition,
  limits: Pick<DirectServing, 'messageBytesMax' | 'streamsMax'>,
): DirectServing {
  const root = protobuf.Root.fromJSON(schema as protobuf.INamespace);
  const known = new Map<string, MethodDefinition<object, object>>();
  for (const entry of Object.values(served)) {
    if ('format' in entry) continue;
    for (const definition of Object.values(entry)) known.set(definition.path, definition);
  }
  const methods = new Map<string, DirectMethod>();
  for (const [path, handle] of handlers) {
    const [, service = '', name = ''] = path.split('/');
    const definition = known.get(path);
    if (definition === undefined) throw new Error(`expected a method of the schema, got ${path}`);
    const method = root.lookupService(service).methods[name];
    const type = root.lookupService(service).lookupType(method?.responseType ?? '');
    const serialize = (message: object) => type.encode(message as protobuf.Message).finish();
    const codec = { serialize, deserialize: definition.requestDeserialize };
    methods.set(path, { path, handle, ...(asBytes ? AS_BYTES : codec) });
  }
  return { methods, enter, statusOf, loadClass, deadlineMsMax, ...limits };
}
