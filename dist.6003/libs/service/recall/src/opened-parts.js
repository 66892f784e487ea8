import { Popularity, rebuildPopularity } from "../../behaviour/src/index.js";
import { CLOCK } from "../../../ops/units/src/index.js";
/** Parts that must be closed: the engine first, since its requests read the catalogue. */ export class Opened {
    /** Caches that were begun anew on the way. */ dropped = [];
    changes = [];
    catalogues = [];
    behaviours;
    engine;
    adapters;
    weights;
    counting;
    closing;
    keepBehaviours(behaviours) {
        this.behaviours = behaviours;
        return behaviours;
    }
    keepChanges(changes) {
        this.changes.push(changes);
        return changes;
    }
    keepCatalogue(catalogue) {
        this.catalogues.push(catalogue);
        return catalogue;
    }
    keepEngine(engine) {
        this.engine = engine;
        return engine;
    }
    keepWeights(weights) {
        this.weights = weights;
        return weights;
    }
    keepAdapters(adapters) {
        this.adapters = adapters;
        return adapters;
    }
    /** Counts the clicks of a store in the background, where users are answered by that. */ keepPopularity({ withoutHistory, isClick = ()=>true }, store) {
        if (withoutHistory !== 'popular') return undefined;
        const popularity = new Popularity(CLOCK.earliestMs);
        const isWanted = ()=>this.closing === undefined;
        this.counting = rebuildPopularity(store, popularity, isClick, isWanted);
        return popularity;
    }
    close() {
        this.closing ??= this.closeOnce();
        return this.closing;
    }
    async closeOnce() {
        await this.engine?.close();
        await this.adapters?.close();
        await this.weights?.close();
        for (const changes of this.changes)await changes.settled();
        for (const catalogue of this.catalogues)catalogue.close();
        await this.counting;
        await this.behaviours?.close();
    }
}

//# sourceMappingURL=opened-parts.js.map