/** The user KV pool as the rest of the service sees it (docs/internals/kv-pool.md). */ export const NOTHING_FOUND = {
    tiers: [],
    deviceTokens: 0,
    hostTokens: 0,
    diskTokens: 0,
    lossy: false,
    inheritedTokens: 0,
    versionsBack: 0,
    waitUs: 0
};
/** Keeps what all users share, in memory alone, while running requests leave room for it. */ export function headPool(deviceBytes) {
    return {
        ...kvOff(deviceBytes),
        pool: 'on'
    };
}
/** No pool: prompts of running requests still need the device tier. */ export function kvOff(deviceBytes) {
    return {
        pool: 'off',
        deviceBytes,
        hostBytes: 0,
        diskBytes: 0,
        path: '',
        blockCodec: 'exact',
        versionsBackMax: 0,
        readThreads: 1,
        storeQueueMax: 1,
        prefetchQueueMax: 2
    };
}

//# sourceMappingURL=kv-pool.js.map