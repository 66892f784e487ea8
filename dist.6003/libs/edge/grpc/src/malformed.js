import { TesseraError } from "../../../ops/errors/src/index.js";
import { excessOf, manyFields } from "./message-values.js";
const MALFORMED = Symbol('malformed');
/**
 * grpc-js answers bytes that do not parse with INTERNAL, as if the service were at fault. A marked
 * object takes their place, which `refuseMalformed` turns into REQUEST_INVALID.
 */ function marked(deserialize, many) {
    return (bytes)=>{
        const excess = excessOf(bytes, many);
        if (excess !== undefined) return {
            [MALFORMED]: excess
        };
        try {
            return deserialize(bytes);
        } catch (error) {
            return {
                [MALFORMED]: error instanceof Error ? error.message : String(error)
            };
        }
    };
}
export function withMalformedMarked(definition) {
    return Object.fromEntries(Object.entries(definition).map(([name, entry])=>{
        if ('format' in entry) return [
            name,
            entry
        ];
        const methods = Object.entries(entry).map(([method, description])=>[
                method,
                {
                    ...description,
                    requestDeserialize: marked(description.requestDeserialize, manyFields(description.requestType.type))
                }
            ]);
        return [
            name,
            Object.fromEntries(methods)
        ];
    }));
}
/** Throws REQUEST_INVALID for a message whose bytes were no message. */ export function refuseMalformed(message) {
    const reason = message[MALFORMED];
    if (reason !== undefined) {
        throw new TesseraError('REQUEST_INVALID', `expected a protobuf message, got ${reason}`);
    }
}

//# sourceMappingURL=malformed.js.map