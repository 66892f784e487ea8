import { BundleLabel, CatalogueChanges, CHANGES_NOT_KEPT } from "../../libs/service/catalogue/src/index.js";
import { NOTHING_HELD } from "../../libs/engine/src/index.js";
import { Erasures } from "../../libs/service/erasure/src/index.js";
import { TesseraError } from "../../libs/ops/errors/src/index.js";
import { FakeChangingCatalogue, FakeKvPool } from "../../libs/testing/src/index.js";
const timings = {
    featuresUs: 1,
    promptUs: 2,
    queueUs: 3,
    planUs: 9,
    prefillUs: 4,
    decodeUs: 5,
    projectionsUs: 6,
    attentionUs: 2,
    headUs: 6,
    selectUs: 7,
    forkUs: 10,
    exportUs: 8,
    totalUs: 55
};
const VERSIONS = {
    model: 'm',
    catalogue: 'c',
    promptTemplate: 'p',
    catalogueSequence: 7,
    adapter: 'd',
    adapterName: 'n',
    node: 'n-1'
};
const NO_BEAM = {
    resultCount: 0,
    widths: [],
    itemsPerSid: 0
};
const kv = {
    tokensByTier: {
        device: 1,
        host: 1,
        disk: 1
    },
    sharedTokens: 5,
    computedTokens: 1,
    savedTokens: 8,
    lossy: true,
    inheritedTokens: 1,
    versionsBack: 1,
    waitUs: 250
};
/** Whatever the valuation. */ const VALUE = {
    value: 0.5,
    terms: {
        bid: 1
    },
    pace: 0.5,
    criticalBid: 0.25
};
const RANKING = {
    heads: {
        click: 0.25
    },
    value: {
        value: -1.5,
        terms: {
            ctr: -1.5
        },
        pace: 1
    },
    recallRank: 2
};
const APPLIED = {
    adapter: 'd',
    adapterName: 'ranking',
    items: 3,
    leftOut: 1,
    heads: [
        'click'
    ],
    valuation: {
        name: 'clicks',
        scoreWeight: 1,
        weights: {
            ctr: 1
        }
    }
};
export function answerTo(request) {
    const itemId = request.userId ?? request.history?.join('+') ?? '';
    const named = request.attributes?.length ? JSON.stringify({
        asked: request.attributes
    }) : '';
    const { valuation, explore, rank } = request;
    const ranked = rank && {
        ranking: RANKING
    };
    const item = {
        itemId,
        sid: [
            3,
            1,
            4
        ],
        score: -0.5,
        rank: 1,
        title: 'Tëst',
        attributes: named
    };
    const drawn = {
        explored: true,
        propensity: 0.5
    };
    return {
        requestId: request.requestId || 'made',
        items: [
            Object.assign(item, valuation && {
                value: VALUE
            }, explore && drawn, ranked)
        ],
        ...rank && {
            ranking: APPLIED
        },
        ...valuation && {
            valuation: {
                ...valuation,
                scoreWeight: 1,
                floor: valuation.floor ?? -9,
                bestLeftOut: 0
            }
        },
        ...explore && {
            exploration: {
                slots: 1,
                temperature: 2,
                seed: explore.seed ?? 0,
                noPropensities: ''
            }
        },
        short: true,
        search: request.search ?? 'certified',
        certified: false,
        gap: -0.75,
        rows: request.rowBudget ?? 6,
        widthsUsed: [
            2,
            4
        ],
        completeness: 'narrowed',
        itemPolicy: {
            orderBy: request.itemPolicy?.orderBy ?? '',
            diversity: request.itemPolicy?.diversity ?? [],
            itemsPerSid: 3,
            resultCount: 5,
            leftOutByDiversity: 2
        },
        cappedItems: request.frequencyCaps?.length ?? 0,
        historyItems: request.history?.length ?? 0,
        trimmedItems: 0,
        skippedItems: 0,
        fallback: '',
        promptTokens: 9,
        prefixReusedTokens: 5,
        kv,
        versions: VERSIONS,
        timings
    };
}
export function scoresOf(request) {
    return {
        requestId: request.requestId || 'made',
        items: request.items.map((item, index)=>'itemId' in item ? Object.assign({
                itemId: item.itemId,
                sid: [
                    3,
                    1,
                    4
                ]
            }, {
                outcome: 'scored',
                score: -index - 0.25
            }, request.valuation && {
                value: VALUE
            }) : {
                itemId: '',
                sid: item.sid,
                outcome: 'unknown'
            }),
        historyItems: request.history?.length ?? 0,
        trimmedItems: 0,
        skippedItems: 0,
        fallback: '',
        promptTokens: 9,
        prefixReusedTokens: 5,
        kv,
        versions: VERSIONS,
        timings
    };
}
export function rankedOf(request) {
    const [itemId = '', ...unknown] = request.itemIds;
    const { requestId, historyItems, trimmedItems, skippedItems, fallback, promptTokens } = answerTo({
        ...request,
        ...NO_BEAM
    });
    const failure = {
        code: 'ITEM_NOT_FOUND',
        message: 'expected a live item'
    };
    return {
        requestId,
        items: [
            {
                itemId,
                rank: 1,
                score: -0.5,
                ranking: {
                    heads: RANKING.heads,
                    value: RANKING.value
                }
            },
            ...unknown.map((id)=>({
                    itemId: id,
                    rank: 0,
                    failure
                }))
        ],
        ranking: APPLIED,
        historyItems,
        trimmedItems,
        skippedItems,
        fallback,
        promptTokens,
        prefixReusedTokens: 5,
        kv,
        versions: VERSIONS,
        timings
    };
}
export function explanationOf({ recall, itemId }) {
    return {
        requestId: recall.requestId || 'made',
        itemId,
        sid: [
            3,
            1,
            4
        ],
        verdict: 'pruned',
        rank: 12,
        step: 1,
        score: -3.5,
        cutScore: -2.25,
        exactRank: 31,
        widthsUsed: [
            4,
            8
        ],
        historyItems: recall.history?.length ?? 0,
        trimmedItems: 0,
        skippedItems: 0,
        fallback: '',
        promptTokens: 9,
        prefixReusedTokens: 5,
        kv,
        versions: VERSIONS,
        timings
    };
}
const stats = {
    queued: 0,
    running: 0,
    inFlight: 0,
    reserved: 0,
    submitted: 0,
    completed: 0,
    failed: 0,
    cancelled: 0,
    expired: 0,
    prefillTokens: 0,
    decodeTokens: 0,
    forwardPasses: 0,
    prefixReusedTokens: 0,
    rolledBackTokens: 0,
    predictedUs: 0,
    actualUs: 0,
    expertRows: 0,
    expertPlaces: 0,
    expertsTouched: 0,
    passUs: 0,
    tokenUs: 0,
    tokenPairUs: 0,
    backlogUs: 0
};
const WEIGHTS_STAY = async ()=>{
    throw new TesseraError('ADAPTER_STATE', 'weights.path: weights are not updated here');
};
const FIXED_WEIGHTS = {
    current: ()=>({
            serving: '',
            previous: '',
            digest: 'm'
        }),
    update: WEIGHTS_STAY,
    rollBack: WEIGHTS_STAY,
    perform: WEIGHTS_STAY,
    orderBy: ()=>undefined
};
/** A runtime whose recalls the test decides; user `wait` waits until aborted or drained. */ export class FakeRuntime {
    serving = this;
    operations = this;
    facts = this;
    seen = [];
    explained = [];
    scored = [];
    ranked = [];
    appended = [];
    catalogues = [
        ''
    ];
    kvPool = new FakeKvPool();
    erasures = new Erasures();
    /** Resolves when a recall of user `wait` has begun. */ waiting;
    events = [];
    closes = 0;
    behaviourLog = undefined;
    behaviourReach = ()=>({
            state: 'ok',
            reason: ''
        });
    popularity = undefined;
    stores = [];
    droppedCaches = [];
    adapters = undefined;
    weights = FIXED_WEIGHTS;
    catalogue = new FakeChangingCatalogue([
        {
            itemId: 'a',
            sid: [
                3,
                1,
                4
            ],
            title: 'Tëst',
            attributes: '{"n":1}'
        }
    ]);
    changes = new CatalogueChanges(this.catalogue, {
        ...CHANGES_NOT_KEPT,
        bundle: BundleLabel.unkept('u1')
    });
    announce = ()=>undefined;
    release = ()=>undefined;
    summary = {
        model: {
            path: '',
            family: 'qwen3',
            vocabSize: 1,
            hiddenSize: 1,
            layerCount: 1,
            maxPositions: 1,
            parameterCount: 1,
            digest: 'm',
            computeType: 'f32',
            kvBytesPerPosition: 1,
            headSize: 1,
            weightBytes: 0,
            instructionSet: 'portable'
        },
        catalogue: {
            digest: 'c',
            itemCount: 1,
            pathCount: 1,
            depth: 3,
            fileBytes: 1
        },
        promptTemplate: {
            name: 'fake',
            digest: 'p'
        },
        userCount: 1
    };
    constructor(){
        this.waiting = new Promise((resolve)=>{
            this.announce = resolve;
        });
    }
    async recall(request, context) {
        this.seen.push({
            request,
            context
        });
        if (request.userId === 'throw') throw new RangeError('a secret');
        if (request.userId === 'nobody') {
            throw new TesseraError('USER_NOT_FOUND', "userId: 'nobody' is not known", {
                field: 'userId'
            });
        }
        if (request.userId === 'busy') {
            throw new TesseraError('ENGINE_OVERLOADED', 'the queue is full', {
                retryAfterMs: 1500
            });
        }
        if (request.userId === 'wait') await this.wait(context);
        return answerTo(request);
    }
    async pin(_request, sequence) {
        return {
            sequence,
            cappedItems: 0
        };
    }
    async score(request, context) {
        this.scored.push({
            request,
            context
        });
        return scoresOf(request);
    }
    async rank(request, context) {
        this.ranked.push({
            request,
            context
        });
        return rankedOf(request);
    }
    async explain(request, context) {
        this.explained.push({
            request,
            context
        });
        return explanationOf(request);
    }
    async user(userId) {
        if (userId === 'nobody') return null;
        const behaviours = [
            {
                itemId: 'a',
                action: 'click',
                time: 1_700_000_000
            }
        ];
        return {
            behaviours,
            profile: {
                age: '3'
            }
        };
    }
    describe(itemIds) {
        return itemIds.map((itemId)=>itemId === 'a' ? {
                itemId,
                title: 'Tëst',
                attributes: '{"n":1}',
                sid: [
                    3,
                    1,
                    4
                ]
            } : undefined);
    }
    changesOf(name) {
        if (name === '') return this.changes;
        throw new TesseraError('REQUEST_INVALID', `catalogue: expected '', got '${name}'`, {
            field: 'catalogue'
        });
    }
    wait(context) {
        return new Promise((resolve, reject)=>{
            context.signal.addEventListener('abort', ()=>{
                this.events.push('aborted');
                reject(new TesseraError('CANCELLED', 'the caller went away'));
            });
            this.release = resolve;
            this.announce(context);
        });
    }
    async append(request, context) {
        this.appended.push({
            request,
            context
        });
        const { historyItems, trimmedItems, skippedItems } = answerTo({
            ...request,
            ...NO_BEAM
        });
        const requestId = request.requestId || 'made';
        return {
            requestId,
            historyItems,
            trimmedItems,
            skippedItems,
            keptTokens: 8,
            kv
        };
    }
    forgetUser(userId) {
        return this.kvPool.dropUser(userId);
    }
    forecast() {
        const idle = {
            waitUs: 0,
            turnUs: 0
        };
        return {
            classes: [
                idle,
                idle,
                idle
            ]
        };
    }
    engineStats() {
        return stats;
    }
    heldWhileIdle() {
        return {
            ...NOTHING_HELD,
            underway: 0
        };
    }
    async sampleUserIds() {
        return [
            '1'
        ];
    }
    async drain() {
        this.events.push('drain');
        this.release();
    }
    async close() {
        this.events.push('close');
        this.closes += 1;
    }
}

//# sourceMappingURL=fake-runtime.js.map