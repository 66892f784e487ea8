/** Wire <-> domain of AdapterService. */ import { enumWords } from "../../../../libs/ops/contracts/src/index.js";
import { invalid, text } from "../../../../libs/edge/grpc/src/index.js";
const STATES = enumWords['tessera.adapter.v1.State'];
export function toWireVersion(version) {
    const { name, digest, state, reason, baseModel, files, remark, facts, share } = version;
    return {
        name,
        digest,
        state: STATES[state],
        reason,
        baseModel,
        remark,
        share,
        fileBytes: files.reduce((sum, { bytes })=>sum + bytes, 0),
        receivedMs: version.receivedMs,
        changedMs: version.changedMs,
        pinned: version.isPinned,
        loaded: version.isLoaded,
        arenaBytes: version.arenaBytes,
        predecessor: version.isPredecessor,
        rankMax: facts?.rankMax ?? 0,
        targetCount: facts?.targetCount ?? 0,
        replacedRows: facts?.replacedRows ?? 0,
        largestNorm: facts?.largestNorm ?? 0
    };
}
export function toWireComparison(comparison) {
    if (comparison === undefined) return undefined;
    const { canary, active, ...rest } = comparison;
    return {
        canary: {
            ...canary
        },
        active: {
            ...active
        },
        ...rest
    };
}
export function parseActivation({ share, force, cold }) {
    return {
        share: share ?? 1,
        isCompared: !force,
        isWarmed: !cold
    };
}
export function toWireActivated({ warmedUsers, goldenOverlap }, version) {
    return {
        version: toWireVersion(version),
        warmedUsers,
        goldenOverlap
    };
}
export function parsePushPart(message) {
    const { header, chunk, end } = message;
    if (header) {
        const { name, baseModel, files, remark } = header;
        return {
            header: {
                name: text('name', name),
                baseModel: text('baseModel', baseModel),
                files: files.map((file)=>({
                        ...file
                    })),
                remark: text('remark', remark)
            }
        };
    }
    if (chunk) return {
        data: chunk.data
    };
    if (end) return {
        isEnd: true
    };
    throw invalid('part', 'a header, a chunk or the end', 'none');
}

//# sourceMappingURL=adapter.mapper.js.map