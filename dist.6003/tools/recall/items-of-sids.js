const ITEMS_AT_A_TIME = 65_536;
/**
 * IDs of the items that have these SIDs, by SID as text, in the order of the catalogue: priority
 * first, then ID. Of a catalogue without changes.
 */ export function itemsOfSids(catalogue, sids) {
    const view = catalogue.view();
    const { itemCount } = catalogue.summary;
    const found = new Map(sids.map((sid)=>[
            sid.join(),
            []
        ]));
    for(let first = 0; first < itemCount; first += ITEMS_AT_A_TIME){
        const length = Math.min(ITEMS_AT_A_TIME, itemCount - first);
        const ordinals = Uint32Array.from({
            length
        }, (_, at)=>first + at);
        for (const [at, sid] of view.sids(ordinals).entries()){
            found.get(sid.join())?.push(first + at);
        }
    }
    const idsOf = (ordinals)=>view.items(Uint32Array.from(ordinals)).map(({ itemId })=>itemId);
    return new Map([
        ...found
    ].map(([sid, ordinals])=>[
            sid,
            idsOf(ordinals)
        ]));
}

//# sourceMappingURL=items-of-sids.js.map