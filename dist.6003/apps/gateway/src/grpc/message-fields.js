import { protoSchema } from "../../../../libs/ops/contracts/src/index.js";
import protobuf from "protobufjs";
const root = protobuf.Root.fromJSON(protoSchema).resolveAll();
/** Full names of the messages of a method, `/package.Service/Method`. */ export function messagesOf(path) {
    const [, service = '', name = ''] = path.split('/');
    const method = root.lookupService(service).methods[name];
    if (method === undefined) throw new Error(`proto: expected a method ${path}, got none`);
    const { resolvedRequestType: request, resolvedResponseType: response } = method;
    return {
        request: request?.fullName ?? '',
        response: response?.fullName ?? ''
    };
}
/** Undefined: the path leads nowhere. */ function findFields(message, path) {
    const fields = [];
    let type = root.lookupType(message);
    for (const name of path.split('.')){
        const field = type instanceof protobuf.Type ? type.fields[name] : undefined;
        if (field === undefined) return undefined;
        fields.push(field);
        type = field.resolvedType;
    }
    return fields;
}
function fieldsOf(message, path) {
    const fields = findFields(message, path);
    if (fields === undefined) throw new Error(`proto: expected a field ${message}.${path}, got none`);
    return fields;
}
/** True for a path of names to a field that is there. */ export const hasField = (message, path)=>findFields(message, path) !== undefined;
/** The field numbers of a path of names, such as `request.userId`. */ export function fieldNumbers(message, path) {
    return fieldsOf(message, path).map(({ id })=>id);
}
/** The number of the field that a path of names ends with. */ export function fieldNumber(message, path) {
    return fieldNumbers(message, path).at(-1);
}
/** The number of a word of the enumeration that a field takes. */ export function enumNumber(message, field, word) {
    const type = fieldsOf(message, field).at(-1)?.resolvedType;
    const number = type instanceof protobuf.Enum ? type.values[word] : undefined;
    if (number === undefined) throw new Error(`proto: expected a word ${word}, got none`);
    return number;
}
/** The full name of the message that the field at a path of names is. */ export function messageAt(message, path) {
    const type = fieldsOf(message, path).at(-1)?.resolvedType;
    return type instanceof protobuf.Type ? type.fullName : '';
}
/** A message as the wire has it. */ export function encoded(message, value) {
    const type = root.lookupType(message);
    return type.encode(type.fromObject(value)).finish();
}
/** The one field of a message that is repeated. */ export function repeatedField(message) {
    const repeated = root.lookupType(message).fieldsArray.filter((field)=>field.repeated);
    const [only] = repeated;
    if (only !== undefined && repeated.length === 1) {
        const isPacked = !(only.resolvedType instanceof protobuf.Type);
        return {
            number: only.id,
            name: only.name,
            isPacked
        };
    }
    throw new Error(`proto: expected one repeated field in ${message}, got ${repeated.length}`);
}

//# sourceMappingURL=message-fields.js.map