import { randomUUID } from "node:crypto";
const ITEMS = 20_000;
const USERS = 5000;
const ITEMS_PER_RECALL = 50;
const DAYPARTS = [
    'morning',
    'noon',
    'evening',
    'night'
];
/** Recalls of 50 items of 20,000, the popular ones more often, with scores to the last bit. */ export function drawnRecall(random, timeMs) {
    const scene = {
        daypart: DAYPARTS[Math.floor(random() * 4)] ?? '',
        page: 'home'
    };
    const requestId = randomUUID();
    const userId = `user-${Math.floor(random() * USERS)}`;
    const request = {
        requestId,
        userId,
        scene
    };
    let score = -4 - random();
    const items = Array.from({
        length: ITEMS_PER_RECALL
    }, ()=>{
        score -= random() / 8;
        return {
            itemId: `ad-${Math.floor(random() ** 3 * ITEMS)}`,
            score
        };
    });
    const us = ()=>random() * 5000;
    const answer = {
        requestId,
        items,
        arm: 'active',
        short: false,
        widthsUsed: [
            64,
            64,
            64
        ],
        versions: {
            model: 'a'.repeat(64),
            catalogueSequence: Math.floor(timeMs / 10_000) % 100_000,
            promptTemplate: 'demo@0123456789abcdef',
            adapter: random() < 0.3 ? 'b'.repeat(64) : 'c'.repeat(64),
            adapterName: 'ads'
        },
        kv: {
            tokensByTier: {
                device: Math.floor(random() * 300)
            },
            sharedTokens: 0,
            computedTokens: Math.floor(random() * 40)
        },
        timings: {
            featuresUs: us(),
            promptUs: us(),
            queueUs: us(),
            prefillUs: us(),
            decodeUs: us(),
            totalUs: us() * 5
        }
    };
    return {
        timeMs,
        edge: 'grpc',
        request,
        outcome: answer
    };
}

//# sourceMappingURL=drawn-recalls.js.map