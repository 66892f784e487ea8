import { protoSchema } from '@tessera/contracts';
import protobuf from 'protobufjs';

const root = protobuf.Root.fromJSON(protoSchema as protobuf.INamespace).resolveAll();

/** Full names of the messages of a method, `/package.Service/Method`. */
export function messagesOf(path: string): { readonly request: string; readonly response: string } {
  const [, service = '', name = ''] = path.split('/');
  const method = root.lookupService(service).methods[name];
  if (method === undefined) throw new Error(`proto: expected a method ${path}, got none`);
  const { resolvedRequestType: request, resolvedResponseType: response } = method;
  return { request: request?.fullName ?? '', response: response?.fullName ?? '' };
}

/** Undefined: the path leads nowhere. */
function findFields(message: string, path: string): readonly protobuf.Field[] | undefined {
  const fields: protobuf.Field[] = [];
  let type: protobuf.ReflectionObject | null = root.lookupType(message);
  for (const name of path.split('.')) {
    const field: protobuf.Field | undefined =
      type instanceof protobuf.Type ? type.fields[name] : undefined;
    if (field === undefined) return undefined;
    fields.push(field);
    type = field.resolvedType;
  }
  return fields;
}

function fieldsOf(message: string, path: string): readonly protobuf.Field[] {
  const fields = findFields(message, path);
  if (fields === undefined) throw new Error(`proto: expected a field ${message}.${path}, got none`);
  return fields;
}

/** True for a path of names to a field that is there. */
export const hasField = (message: string, path: string): boolean =>
  findFields(message, path) !== undefined;

/** The field numbers of a path of names, such as `request.userId`. */
export function fieldNumbers(message: string, path: string): readonly number[] {
  return fieldsOf(message, path).map(({ id }) => id);
}

/** The number of the field that a path of names ends with. */
export function fieldNumber(message: string, path: string): number {
  return fieldNumbers(message, path).at(-1) as number;
}

/** The number of a word of the enumeration that a field takes. */
export function enumNumber(message: string, field: string, word: string): number {
  const type = fieldsOf(message, field).at(-1)?.resolvedType;
  const number = type instanceof protobuf.Enum ? type.values[word] : undefined;
  if (number === undefined) throw new Error(`proto: expected a word ${word}, got none`);
  return number;
}

/** The full name of the message that the field at a path of names is. */
export function messageAt(message: string, path: string): string {
  const type = fieldsOf(message, path).at(-1)?.resolvedType;
  return type instanceof protobuf.Type ? type.fullName : '';
}

/** A message as the wire has it. */
export function encoded(message: string, value: object): Uint8Array {
  const type = root.lookupType(message);
  return type.encode(type.fromObject(value)).finish();
}

/** The one field of a message that is repeated. */
export function repeatedField(message: string) {
  const repeated = root.lookupType(message).fieldsArray.filter((field) => field.repeated);
  const [only] = repeated;
  if (only !== undefined && repeated.length === 1) {
    const isPacked = !(only.resolvedType instanceof protobuf.Type);
    return { number: only.id, name: only.name, isPacked };
  }
  throw new Error(`proto: expected one repeated field in ${message}, got ${repeated.length}`);
}
