/** A figure that others have published, and where. */ const RECALL_SETTING = 'one H100 80 GB, Qwen3-1.7B shape, BF16, beam 256, 3 tokens a SID';
const RECALL_SOURCE = 'NVIDIA recsys-examples, examples/sid-gr-inference';
/** Milliseconds of so many recalls together, by tokens of context and requests. */ const RECALLS = {
    '1000x1': 17.6,
    '1000x8': 93.2,
    '5000x1': 42.3,
    '5000x4': 154.2,
    '5000x8': 307.9
};
export const RECALL_CASES = Object.keys(RECALLS);
/** The shape that the published recalls are of. */ export const PUBLISHED_SHAPE = 'qwen3-1.7b';
export function publishedRecall(context, requests) {
    const value = RECALLS[`${context}x${requests}`];
    return value === undefined ? undefined : {
        value,
        unit: 'ms',
        setting: RECALL_SETTING,
        source: RECALL_SOURCE
    };
}
/** Online, with four requests in flight at a context of 5,000. */ export const PUBLISHED_RATE = {
    value: 20.1,
    unit: 'requests/s',
    setting: `${RECALL_SETTING}, context 5,000, 4 in flight`,
    source: RECALL_SOURCE
};
export const PUBLISHED_RATE_CONTEXT = 5000;
/** A step of the vectorised sparse-matrix method. */ export const PUBLISHED_STEP = {
    value: 0.033,
    unit: 'ms',
    setting: 'TPU v6e, model of 3B, 20 million items, beam 70: 0.25 % of an inference',
    source: 'STATIC, youtube/static-constraint-decoding'
};
/** Keys and values from the host's memory to the card. */ export const PUBLISHED_LINK = {
    value: 45 * 2 ** 30,
    unit: 'bytes/s',
    setting: 'H100, 71 % of PCIe',
    source: 'NVIDIA recsys-examples, corelib/recsys_kvcache_manager'
};

//# sourceMappingURL=published.js.map