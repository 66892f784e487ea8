import { NOTHING_FOUND } from "../../../../engine/src/index.js";
import { TesseraError } from "../../../../ops/errors/src/index.js";
import { MICROSECONDS_PER_MILLISECOND } from "../../../../ops/units/src/index.js";
import { checkWaiting, invalid } from "./check-request.js";
import { areCut, countCaps, NO_CAPS } from "./frequency-caps.js";
import { RememberedPrompts } from "./remembered-prompts.js";
import { resolveHistory } from "./resolve-history.js";
import { promptRoom, requestLimits } from "./runtime-types.js";
/** Of a request that the engine is not asked about. */ const NO_PROMPT = {
    tokens: new Int32Array(),
    historyItems: 0,
    trimmedItems: 0,
    prefixTokens: 0,
    keepTokens: 0,
    shown: []
};
/**
 * The way from a request to the engine that recall, score, explain and append share: history ->
 * prompt, while the user's blocks are on their way to the device.
 */ export class Preparation {
    parts;
    limits;
    remembered;
    promptTokensMax;
    constructor(parts){
        this.parts = parts;
        this.limits = requestLimits(parts);
        this.promptTokensMax = promptRoom(parts);
        this.remembered = new RememberedPrompts(parts.defaults.rememberedRecalls);
    }
    /** @throws TesseraError DEADLINE_EXCEEDED or CANCELLED where the caller no longer waits */ begin(context) {
        const stopwatch = new Stopwatch();
        checkWaiting(context, 0);
        return stopwatch;
    }
    /**
   * The prompt of a user, within the time. Rejects with REQUEST_INVALID, USER_NOT_FOUND,
   * ITEM_NOT_FOUND, DEADLINE_EXCEEDED or CANCELLED.
   * @param popularity answers a user without history, whose prompt is then empty
   */ async prepare(request, context, stopwatch, popularity) {
        stopwatch.lapUs();
        const { userId } = request;
        const { engine, binding, erasures } = this.parts;
        const { mark } = erasures;
        const prefetch = userId === undefined || !erasures.mayUse(userId) ? undefined : context.scope.keep(engine.prefetch(binding, userId, context.adapter?.engine));
        const given = {
            popularity,
            prefetch
        };
        return {
            ...await this.prepareWith(request, context, stopwatch, given),
            userId,
            mark
        };
    }
    async prepareWith(request, context, stopwatch, { popularity, prefetch }) {
        const { defaults } = this.parts;
        const { profileKeys } = this.limits;
        const historyParts = {
            ...this.parts,
            ...defaults,
            profileKeys,
            popularity
        };
        const history = await resolveHistory(request, historyParts, context.budgetUs / MICROSECONDS_PER_MILLISECOND);
        const featuresUs = stopwatch.lapUs();
        const prompt = history.fallback === 'popular' ? NO_PROMPT : this.promptOf(request, history);
        const promptUs = stopwatch.lapUs();
        const elapsedUs = stopwatch.totalUs();
        checkWaiting(context, elapsedUs);
        const leftUs = context.budgetUs - elapsedUs;
        const isWhole = history.fallback === '' && this.parts.erasures.mayUse(request.userId);
        // A prompt without the user's history is not the beginning of the user's next one.
        const kv = isWhole ? kvUseOf(request, context, prompt, prefetch) : staticKvUse(prompt);
        const { skippedItems } = history;
        const trimmedItems = history.trimmedItems + prompt.trimmedItems;
        const stages = {
            featuresUs,
            promptUs,
            leftUs,
            stopwatch
        };
        const { adapter } = context;
        return {
            prompt,
            history,
            kv,
            skippedItems,
            trimmedItems,
            ...stages,
            adapter
        };
    }
    /** The prompt that an earlier recall had, where it is remembered. */ replay(request, context, stopwatch) {
        const { adapter } = context;
        if (!this.parts.erasures.mayUse(request.userId)) return undefined;
        const remembered = this.remembered.of(request, adapter?.digest ?? '');
        if (remembered === undefined) return undefined;
        const kv = kvUseOf(request, context, remembered.prompt, undefined);
        const leftUs = context.budgetUs - stopwatch.totalUs();
        const stages = {
            featuresUs: 0,
            promptUs: stopwatch.lapUs(),
            leftUs,
            stopwatch
        };
        const { mark } = this.parts.erasures;
        return {
            ...remembered,
            mark,
            history: undefined,
            kv,
            ...stages,
            adapter
        };
    }
    /**
   * The members that every request to the engine has. From here on the engine sees to it that an
   * erasure leaves nothing of the prompt.
   * @throws TesseraError CANCELLED where the user has been erased meanwhile
   */ workOf(prepared) {
        checkNotErased(prepared, this.parts.erasures);
        const { prompt, kv, leftUs, adapter } = prepared;
        const { binding } = this.parts;
        const promptTokens = prompt.tokens;
        return {
            binding,
            promptTokens,
            kv,
            budgetUs: leftUs,
            adapter: adapter?.engine
        };
    }
    promptOf(request, history) {
        const prompt = this.parts.template.render({
            profile: history.profile,
            scene: request.scene,
            history: history.items
        }, this.promptTokensMax);
        if (prompt.tokens.length === 0) {
            throw invalid('history', 'a history, profile or scene that the prompt template shows', 'none');
        }
        return prompt;
    }
}
/** Microseconds since it was made, and since the last lap. */ export class Stopwatch {
    start = performance.now();
    last = this.start;
    lapUs() {
        const now = performance.now();
        const lap = (now - this.last) * 1000;
        this.last = now;
        return lap;
    }
    totalUs() {
        return (performance.now() - this.start) * 1000;
    }
}
/** @throws TesseraError CANCELLED where the user was erased since the prompt was begun */ export function checkNotErased({ userId, mark }, erasures) {
    if (!erasures.isErasedSince(userId, mark)) return;
    throw new TesseraError('CANCELLED', 'the user was erased while the request ran');
}
/** The things that one request has taken. Its owner is RequestScopes: nothing else gives back. */ export class RequestScope {
    taken = [];
    /** Gives it back when the request ends. */ keep(thing) {
        this.taken.push(thing);
        return thing;
    }
    /** Newest first. */ end() {
        for (const thing of this.taken.splice(0).reverse())thing.release();
    }
}
/** The scopes of the requests under way: each ends with its request, on whichever path. */ export class RequestScopes {
    count = 0;
    get open() {
        return this.count;
    }
    async run(act) {
        const scope = new RequestScope();
        this.count += 1;
        try {
            return await act(scope);
        } finally{
            this.count -= 1;
            scope.end();
        }
    }
}
/**
 * The caps of a recall, its own or those that are configured, with the behaviours that count: read
 * with the history, or as they were counted for the recall that is replayed.
 */ export function countedCaps(request, { caps: counted, history }, { defaults, behaviours: { retention }, nowMs = Date.now }) {
    if (counted !== undefined) return counted;
    const { frequencyCaps: own = [], userId } = request;
    const isOwn = own.length > 0;
    const caps = isOwn || userId === undefined ? own : defaults.frequencyCaps ?? [];
    if (caps.length === 0) return NO_CAPS;
    const path = isOwn ? 'frequencyCaps' : 'recall.frequencyCaps';
    const now = nowMs();
    const { behaviours = [] } = history ?? {};
    const all = countCaps(caps, path, behaviours, now);
    const { historyItemsMax } = defaults;
    const isCut = areCut(caps, {
        historyItemsMax,
        retention
    }, behaviours, now);
    const isAway = history?.behaviours === undefined;
    return {
        // The engine checks the attribute that a request names, whatever has been counted.
        caps: all.filter(({ itemIds, attribute })=>itemIds.length > 0 || isOwn && attribute !== ''),
        outcome: isAway ? 'unavailable' : isCut ? 'cut' : 'exact'
    };
}
/** @param answer undefined where the engine was not asked */ export function provenanceOf(promptTokens, answer) {
    const kv = answer?.kv ?? NOTHING_FOUND;
    const { tiers, waitUs, lossy, inheritedTokens, versionsBack } = kv;
    const sharedTokens = answer?.prefixReusedTokens ?? 0;
    const foundTokens = tiers.reduce((sum, { tokens })=>sum + tokens, 0);
    const savedTokens = foundTokens + sharedTokens;
    const computedTokens = answer === undefined ? 0 : promptTokens - savedTokens;
    return {
        waitUs,
        lossy,
        inheritedTokens,
        versionsBack,
        tokensByTier: Object.fromEntries(tiers.map(({ tier, tokens })=>[
                tier,
                tokens
            ])),
        sharedTokens,
        computedTokens,
        savedTokens
    };
}
/**
 * A user's prompt is kept for that user; one from an explicit history leaves the static text
 * alone. The service's own recalls warm up a version or compare it, and are computed
 * under it.
 */ function kvUseOf({ userId }, { isOwn = false }, prompt, prefetch) {
    if (userId === undefined) return staticKvUse(prompt);
    const { prefixTokens, keepTokens } = prompt;
    const use = {
        userId,
        prefixTokens,
        keepTokens,
        wantsExact: isOwn
    };
    return prefetch === undefined ? use : {
        ...use,
        prefetch
    };
}
/** Of a prompt that is no user's: the static text that all begin with. */ function staticKvUse({ prefixTokens }) {
    return {
        userId: '',
        prefixTokens,
        keepTokens: prefixTokens
    };
}

//# sourceMappingURL=preparation.js.map