/** Model of the service's content and answers, restated over plain maps. */ export function holds(condition, ad) {
    if ('in' in condition) return condition.in.values.includes(ad.brand);
    if ('contains' in condition) {
        return condition.contains.values.some((place)=>ad.places.includes(place));
    }
    if ('range' in condition) {
        return ad.bid >= condition.range.min && ad.bid <= condition.range.max;
    }
    if ('not' in condition) return !holds(condition.not, ad);
    if ('all' in condition) return condition.all.predicates.every((one)=>holds(one, ad));
    return condition.any.predicates.some((one)=>holds(one, ad));
}
export class DayModel {
    ads = new Map();
    /** Histories, oldest first. */ users = new Map();
    erased = new Set();
    registries = new Map();
    /** Digests of the adapters that were put into service on a base model, the serving one last. */ registry(base) {
        const found = this.registries.get(base) ?? [];
        this.registries.set(base, found);
        return found;
    }
    append(event) {
        const history = this.users.get(event.userId) ?? [];
        if (!history.some(({ eventId })=>eventId === event.eventId)) history.push(event);
        this.users.set(event.userId, history);
    }
    erase(userId) {
        this.users.delete(userId);
        this.erased.add(userId);
    }
    /** Changes every ad that the condition holds for, paused ones too; how many. */ changeMatching(condition, change) {
        const matching = [
            ...this.ads.values()
        ].filter((ad)=>holds(condition, ad));
        for (const ad of matching)this.ads.set(ad.itemId, change(ad));
        return matching.length;
    }
    /** IDs of the ads that a recall may answer, in the order of their text. */ eligible(condition, userId, caps) {
        const found = [
            ...this.ads.values()
        ].filter((ad)=>!ad.isPaused && (condition === undefined || holds(condition, ad)));
        const uncapped = found.filter((ad)=>!caps.some((cap)=>this.isFull(cap, ad, userId)));
        return uncapped.map(({ itemId })=>itemId).sort();
    }
    /** Ads that ended count towards no brand. */ isFull({ attribute, maxBehaviours, sinceMs }, ad, userId) {
        const counting = (this.users.get(userId) ?? []).filter(({ itemId, timeMs })=>timeMs > sinceMs && (attribute === '' ? itemId === ad.itemId : this.ads.get(itemId)?.brand === ad.brand));
        return counting.length >= maxBehaviours;
    }
    /** Input of an answer's scores: the history's items as the prompt shows them. */ shown(userId) {
        const codes = (this.users.get(userId) ?? []).flatMap(({ itemId })=>{
            const ad = this.ads.get(itemId);
            return ad === undefined ? [] : [
                ad.sid.join('.')
            ];
        });
        return codes.join(' ');
    }
}

//# sourceMappingURL=day-model.js.map