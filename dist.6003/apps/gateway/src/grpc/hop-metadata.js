import { metadataOf, passedFields, withToken } from "../passed-fields.js";
/** Milliseconds of a deadline that the way back to the caller may take. */ export const HOP_MS = 2;
/** Messages pass as bytes. */ export const identity = (bytes)=>bytes;
/** Until when the node has to answer, milliseconds since 1970; Infinity: there is no deadline. */ export const hopDeadlineMs = (call)=>Number(call.getDeadline()) - HOP_MS;
/** Metadata and deadline of a stream to a node: what a unary call passes on. */ export function hopOf(call, connection) {
    const fields = passedFields((name)=>call.metadata.get(name)[0]);
    const metadata = metadataOf(withToken(fields, connection));
    return [
        metadata,
        {
            deadline: hopDeadlineMs(call)
        }
    ];
}

//# sourceMappingURL=hop-metadata.js.map