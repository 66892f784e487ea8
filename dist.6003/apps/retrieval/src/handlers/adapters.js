import { plain, service, submissionOf } from "../../../../libs/edge/call/src/index.js";
import { text } from "../../../../libs/edge/grpc/src/index.js";
import { parseActivation, parsePushPart, toWireActivated, toWireComparison, toWireVersion } from "../wire/adapter.mapper.js";
/** Parts as the disk takes them: while it does not, they wait in the client. */ async function* partsOf(messages) {
    for await (const message of messages)yield parsePushPart(message);
}
function named({ name, digest }) {
    return {
        name: text('name', name),
        digest: text('digest', digest)
    };
}
/** Versions of adapters. */ export function adapterHandlers(edge) {
    const pinned = (isPinned)=>async (read, call)=>{
            const how = submissionOf(call.field);
            const version = await edge.pinAs(call.caller, named(read()), isPinned, how);
            return {
                version: toWireVersion(edge.described(version))
            };
        };
    return service('tessera.adapter.v1.AdapterService', {
        Push: async (messages, call)=>{
            const how = submissionOf(call.field);
            const { version, isKnown } = await edge.pushAs(call.caller, partsOf(messages), how);
            return {
                version: toWireVersion(edge.described(version)),
                known: isKnown
            };
        },
        List: plain((message)=>listed(edge, message)),
        Get: plain((message)=>{
            const { version, comparison } = edge.get(named(message));
            return {
                version: toWireVersion(version),
                comparison: toWireComparison(comparison)
            };
        }),
        Activate: async (read, call)=>{
            const message = read();
            const wanted = parseActivation(message);
            const how = submissionOf(call.field);
            const activated = await edge.activateAs(call.caller, named(message), wanted, how);
            return toWireActivated(activated, edge.described(activated.version));
        },
        Rollback: async (read, call)=>{
            const name = text('name', read().name);
            const how = submissionOf(call.field);
            const { serves, replaced } = await edge.rollBackAs(call.caller, name, how);
            return {
                version: serves && toWireVersion(edge.described(serves)),
                replaced: replaced && toWireVersion(edge.described(replaced))
            };
        },
        Pin: pinned(true),
        Unpin: pinned(false),
        Delete: async (read, call)=>{
            await edge.deleteAs(call.caller, named(read()), submissionOf(call.field));
            return {};
        }
    });
}
function listed(edge, { name }) {
    const { versions, defaultName, arena, disk } = edge.list(text('name', name));
    return {
        versions: versions.map(toWireVersion),
        defaultName,
        arenaUsedBytes: arena.usedBytes,
        arenaMaxBytes: arena.maxBytes,
        diskUsedBytes: disk.usedBytes,
        diskMaxBytes: disk.maxBytes
    };
}

//# sourceMappingURL=adapters.js.map