import { NO_ITEM, NO_POLICY } from "../../../../engine/src/index.js";
/** Items, or pages of a listing, between two of which requests run. */ const breather = ()=>new Promise((resolve)=>{
        setImmediate(resolve);
    });
/** Items as versions of a catalogue have them. */ export class ItemStates {
    catalogue;
    constructor(catalogue){
        this.catalogue = catalogue;
    }
    /** The newest version, as it is when this is called. */ pin() {
        const view = this.catalogue.view();
        return {
            sequence: view.sequence,
            of: (itemIds)=>this.statesIn(view, itemIds)
        };
    }
    statesIn(view, itemIds) {
        const ordinals = view.find(itemIds);
        const known = ordinals.filter((ordinal)=>ordinal !== NO_ITEM);
        const items = view.items(known);
        const sids = view.sids(known);
        let next = 0;
        return itemIds.map((itemId, index)=>{
            const nothing = {
                itemId,
                title: '',
                attributes: '{}',
                isPaused: true,
                sid: []
            };
            if (ordinals[index] === NO_ITEM) return nothing;
            const [item, sid = []] = [
                items[next],
                sids[next]
            ];
            next += 1;
            if (item === undefined) return nothing;
            const isLive = !item.isPaused && this.catalogue.isInFlight(item.attributes);
            return Object.assign(nothing, item, {
                sid,
                isPaused: !isLive
            });
        });
    }
    /** Live items that an eligibility admits; undefined: more than so many. */ async admitted(eligibility, countMax) {
        const { catalogue } = this;
        const request = {
            eligibility: {
                ...eligibility,
                caps: []
            },
            itemPolicy: NO_POLICY
        };
        const reach = await catalogue.reach(request);
        const itemIds = [];
        for (const page of catalogue.listItems(reach)){
            const ids = page.map(({ itemId })=>itemId);
            const admitted = catalogue.firstObtainable(reach, ids, ids.length);
            for (const { itemId } of admitted)itemIds.push(itemId);
            if (itemIds.length > countMax) return undefined;
            await breather();
        }
        return {
            sequence: reach.sequence,
            itemIds
        };
    }
}

//# sourceMappingURL=item-states.js.map