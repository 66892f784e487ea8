/**
 * Days of a service as they go: ads begin and end, users come and are erased, adapters are pushed,
 * bases change, compactions, restarts, kill -9. Each answer and each list is compared with a model.
 */ import { Random } from "../../bench/models/random.js";
import { DayModel } from "./day-model.js";
import { DayPlan } from "./day-plan.js";
import { attributesOf, BASES, ServedDays, upsertOf } from "./served-days.js";
const FIRST_MS = 1_700_000_000_000;
const ADS_FIRST = 60;
/** Users whose histories are read again after a start. */ const USERS_READ_AGAIN = 6;
/** Runs so many days; the same seed draws the same. `say` gets a line now and then. */ export async function runDays(seed, days, say = ()=>undefined) {
    const model = new DayModel();
    const random = new Random(seed);
    const plan = new DayPlan(random, model, FIRST_MS);
    const ads = Array.from({
        length: ADS_FIRST
    }, ()=>plan.ad());
    for (const ad of ads)model.ads.set(ad.itemId, ad);
    const served = await ServedDays.start(ads);
    const run = new Days(model, served, random);
    try {
        for(let day = 1; day <= days; day += 1){
            for (const event of plan.day())await run.live(day, event);
            if (day % 100 === 0) say(`day ${day}: ${run.faults.length} faults`);
        }
        await run.live(days, {
            kind: 'kill'
        });
        return {
            counts: Object.fromEntries(run.counts),
            faults: run.faults
        };
    } finally{
        await served.remove();
    }
}
let Days = class Days {
    model;
    served;
    random;
    counts = new Map();
    faults = [];
    /** Scores by what they depend on: the same prompt and weights give the same bits for ever. */ scores = new Map();
    constructor(model, served, random){
        this.model = model;
        this.served = served;
        this.random = random;
    }
    /** A call that fails is a fault of the service: nothing here is anything but ordinary. */ async live(day, event) {
        this.counts.set(event.kind, (this.counts.get(event.kind) ?? 0) + 1);
        try {
            await this.act(event);
        } catch (thrown) {
            this.faults.push(`day ${day}, ${event.kind}: ${thrown.message}`);
        }
    }
    async act(event) {
        const { model, served } = this;
        switch(event.kind){
            case 'begin ads':
                await served.apply(event.ads.map(upsertOf));
                for (const ad of event.ads)model.ads.set(ad.itemId, ad);
                break;
            case 'end ads':
                await served.apply(event.itemIds.map((removeItemId)=>({
                        removeItemId
                    })));
                for (const itemId of event.itemIds)model.ads.delete(itemId);
                break;
            case 'pause':
            case 'resume':
                return this.pause(event.itemId, event.kind === 'pause');
            case 'change attributes':
                {
                    const { itemId } = event.ad;
                    const attributes = JSON.stringify(attributesOf(event.ad));
                    await served.apply([
                        {
                            setAttributes: {
                                itemId,
                                attributes
                            }
                        }
                    ]);
                    model.ads.set(itemId, event.ad);
                    break;
                }
            case 'campaign':
                return this.campaign(event);
            case 'behaviours':
                await served.append(event.events);
                for (const seen of event.events)model.append(seen);
                break;
            case 'erase':
                await served.erase(event.userId);
                model.erase(event.userId);
                break;
            case 'recall':
                return this.recall(event);
            default:
                return this.operate(event);
        }
    }
    async campaign({ condition, edit }) {
        const { model, served } = this;
        const change = campaignChange(condition, edit);
        const [matched] = await served.apply([
            change
        ]);
        const expected = model.changeMatching(condition, (ad)=>edited(ad, edit));
        expectSame(`ads of ${JSON.stringify(change)}`, matched, expected);
    }
    async pause(itemId, isPaused) {
        await this.served.apply([
            isPaused ? {
                pauseItemId: itemId
            } : {
                resumeItemId: itemId
            }
        ]);
        const ad = this.model.ads.get(itemId);
        if (ad !== undefined) this.model.ads.set(itemId, {
            ...ad,
            isPaused
        });
    }
    async operate(event) {
        const { served } = this;
        const registry = this.model.registry(served.base);
        switch(event.kind){
            case 'push adapter':
                {
                    const digest = await served.push(event.seed);
                    await served.activate(digest);
                    registry.push(digest);
                    return this.checkAdapters();
                }
            case 'roll adapter back':
                if (registry.length === 0) return;
                await served.rollBack();
                registry.pop();
                return this.checkAdapters();
            case 'compact':
                return served.compact();
            case 'kill':
                return this.kill();
            case 'restart':
                await served.end('SIGTERM');
                return this.startAgain();
            case 'change base':
                await served.end('SIGTERM');
                served.base = BASES.find((base)=>base !== served.base) ?? served.base;
                return this.startAgain();
        }
    }
    /** With a behaviour under way, which may or may not have been written. */ async kill() {
        const { model, served } = this;
        const [userId, events = []] = this.anyUser() ?? [];
        const last = events.at(-1);
        if (userId === undefined || last === undefined) {
            await served.end('SIGKILL');
            return this.startAgain();
        }
        const torn = {
            ...last,
            eventId: `${last.eventId}, torn`,
            timeMs: last.timeMs + 1
        };
        const sent = served.append([
            torn
        ]).then(()=>true, ()=>false);
        for(let turns = this.random.below(30); turns > 0; turns -= 1){
            await new Promise((resolve)=>setImmediate(resolve));
        }
        await served.end('SIGKILL');
        const isAcknowledged = await sent;
        await served.begin();
        const isThere = (await served.history(userId)).includes(torn.eventId);
        if (isAcknowledged && !isThere) throw new Error(`lost the acknowledged ${torn.eventId}`);
        if (isThere) model.append(torn);
        return this.checkAll();
    }
    async startAgain() {
        await this.served.begin();
        return this.checkAll();
    }
    anyUser() {
        const known = [
            ...this.model.users
        ];
        return known[this.random.below(known.length)];
    }
    async recall({ userId, condition, caps }) {
        const { model, served } = this;
        const answer = await served.recall(userId, condition, caps);
        const found = answer.items.map(({ itemId })=>itemId).sort();
        expectSame(`items of ${userId} where ${JSON.stringify(condition)} under ${JSON.stringify(caps)}`, found, model.eligible(condition, userId, caps));
        const adapter = model.registry(served.base).at(-1) ?? '';
        expectSame('the version that answered', answer.versions?.adapter ?? '', adapter);
        const key = [
            served.base,
            adapter,
            model.shown(userId)
        ].join('|');
        const known = this.scores.get(key) ?? new Map();
        this.scores.set(key, known);
        let before = Number.POSITIVE_INFINITY;
        for (const { itemId, sid, score } of answer.items){
            const path = sid.join('.');
            const expected = known.get(path) ?? score;
            if (score !== expected) throw new Error(`${itemId}: expected the score ${expected}, got ${score}`);
            if (score > before) throw new Error(`${itemId}: expected a score of ${before} at most, got ${score}`);
            known.set(path, score);
            before = score;
        }
    }
    async checkAll() {
        const { model, served } = this;
        const listed = (await served.listed()).map(({ itemId, paused, sid })=>[
                itemId,
                paused,
                ...sid
            ].join(' '));
        const expected = [
            ...model.ads.values()
        ].map(({ itemId, isPaused, sid })=>[
                itemId,
                isPaused,
                ...sid
            ].join(' '));
        expectSame('ads', listed.sort(), expected.sort());
        for(let left = USERS_READ_AGAIN; left > 0; left -= 1){
            const [userId, events = []] = this.anyUser() ?? [];
            if (userId === undefined) break;
            const ids = events.map(({ eventId })=>eventId);
            expectSame(`the history of ${userId}`, await served.history(userId), ids);
        }
        for (const userId of [
            ...model.erased
        ].slice(-USERS_READ_AGAIN)){
            expectSame(`the history of ${userId}, erased`, await served.history(userId), []);
        }
        return this.checkAdapters();
    }
    async checkAdapters() {
        const versions = await this.served.versions();
        const active = versions.filter(({ state })=>state === 'STATE_ACTIVE');
        const expected = this.model.registry(this.served.base).slice(-1);
        expectSame('active versions', active.map(({ digest })=>digest), expected);
    }
};
function campaignChange(matching, edit) {
    if (edit.form === 'raise') {
        const delta = [
            {
                attribute: 'bid',
                delta: edit.bid
            }
        ];
        const add = [
            {
                attribute: 'places',
                texts: [
                    edit.place
                ]
            }
        ];
        return {
            patchAttributes: {
                matching,
                delta,
                add
            }
        };
    }
    return edit.form === 'pause' ? {
        pauseMatching: matching
    } : {
        resumeMatching: matching
    };
}
function edited(ad, edit) {
    if (edit.form !== 'raise') return {
        ...ad,
        isPaused: edit.form === 'pause'
    };
    const places = [
        ...new Set([
            ...ad.places,
            edit.place
        ])
    ];
    return {
        ...ad,
        bid: ad.bid + edit.bid,
        places
    };
}
/** @throws Error naming both where they differ */ function expectSame(what, got, expected) {
    const [is, should] = [
        JSON.stringify(got),
        JSON.stringify(expected)
    ];
    if (is !== should) throw new Error(`${what}: expected ${should}, got ${is}`);
}

//# sourceMappingURL=days.js.map