export function neighboursOf({ itemIds, titles, sidOffsets, sidCodes, sharedLevels }) {
    return itemIds.map((itemId, i)=>({
            itemId,
            title: titles[i] ?? '',
            sid: [
                ...sidCodes.subarray(sidOffsets[i], sidOffsets[i + 1])
            ],
            sharedLevels: sharedLevels[i] ?? 0
        }));
}

//# sourceMappingURL=landing.js.map