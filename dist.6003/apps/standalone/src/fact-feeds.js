import { parseCatalogueSpecs } from "../../../libs/service/catalogue/src/index.js";
import { ItemFeed, PredicateFeed } from "../../../libs/insight/facts/src/index.js";
import { MILLISECONDS_PER_MINUTE } from "../../../libs/ops/units/src/index.js";
/** Versions that serve or wait, as the facts have them. */ function versionsOf({ operations, facts }, timeMs) {
    const { promptTemplate } = facts.summary;
    const none = {
        timeMs,
        name: '',
        state: 'active',
        parent: ''
    };
    const { digest } = operations.weights.current();
    const adapters = operations.adapters?.list('') ?? [];
    const { digest: templateDigest, name: template } = promptTemplate;
    const parentOf = (name, own)=>adapters.find((one)=>one.name === name && one.isPredecessor && one.digest !== own)?.digest;
    return [
        {
            ...none,
            kind: 'model',
            digest
        },
        {
            ...none,
            kind: 'template',
            digest: templateDigest,
            name: template
        },
        ...adapters.map(({ name, digest: own, state })=>({
                timeMs,
                kind: 'adapter',
                digest: own,
                name,
                state,
                parent: parentOf(name, own) ?? ''
            }))
    ];
}
/**
 * From now on what becomes of the catalogues is recorded, and recalls become facts. Undefined where
 * nothing is kept.
 */ export function factFeeds(config, runtime, inspection, log) {
    if (inspection === undefined) return undefined;
    const { operations } = runtime;
    const { store, facts } = inspection;
    inspection.showScenes(runtime.facts.summary.promptTemplate.sceneKeys ?? []);
    const onFault = (thrown)=>log.warn({
            err: thrown
        }, 'facts of items are incomplete');
    const names = [
        '',
        ...parseCatalogueSpecs(config.catalogue.more).map(({ name })=>name)
    ];
    const feeds = names.map((name)=>{
        const changes = operations.changesOf(name);
        const parts = {
            store: facts,
            catalogue: {
                name,
                changes
            },
            nowMs: Date.now,
            onFault
        };
        const feed = new ItemFeed(parts);
        changes.follow((applied)=>{
            const { sequence, changeCount, ops, told, source } = applied;
            const change = {
                sequence,
                changeCount,
                ops,
                told,
                source
            };
            store.offerChange({
                ...change,
                catalogue: name,
                timeMs: Date.now()
            });
            feed.applied(applied);
        });
        feed.start();
        return feed;
    });
    const catalogue = (name)=>operations.changesOf(name);
    const predicates = new PredicateFeed({
        store: facts,
        catalogue,
        nowMs: Date.now,
        onFault
    });
    const endVersions = watchVersions(runtime, facts, onFault);
    return {
        recalled: (recall)=>{
            if (facts.offerRecall(recall)) predicates.note(recall.request);
        },
        close: async ()=>{
            endVersions();
            await predicates.close();
            for (const feed of feeds)await feed.close();
        }
    };
}
/** Each minute, and once at the beginning. */ function watchVersions(runtime, facts, onFault) {
    const note = ()=>void facts.noteVersions(versionsOf(runtime, Date.now())).catch(onFault);
    note();
    const timer = setInterval(note, MILLISECONDS_PER_MINUTE);
    timer.unref();
    return ()=>clearInterval(timer);
}

//# sourceMappingURL=fact-feeds.js.map