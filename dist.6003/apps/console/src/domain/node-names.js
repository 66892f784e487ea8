/** Names of the nodes of the tree, after what the items below have in common. */ /** Levels of the tree that are named: deeper nodes have few items, which speak for themselves. */ const LEVELS_MAX = 3;
/** Nodes that are named, the ones nearest to the root first. */ const NAMES_MAX = 20_000;
/** Attributes that say what an item is, where a catalogue has one of them. */ const PREFERRED = [
    'category',
    'topic'
];
/** Counts texts of all items by node; the attribute is chosen when all are known. */ export class NodeNames {
    /** Attribute -> path -> value -> items. */ counts = new Map();
    add({ sid, attributes }) {
        for (const [attribute, value] of Object.entries(attributes)){
            if (typeof value === 'string') this.count(attribute, value, sid);
        }
    }
    /** @param wanted '': a preferred attribute, else the one with the fewest values */ names(wanted) {
        const attribute = wanted === '' ? this.best() : wanted;
        const byPath = [
            ...this.counts.get(attribute) ?? []
        ];
        const depth = (path)=>path.split('-').length;
        byPath.sort(([a], [b])=>depth(a) - depth(b));
        const named = byPath.slice(0, NAMES_MAX).map(([path, values])=>{
            const all = [
                ...values.values()
            ].reduce((sum, count)=>sum + count, 0);
            const [value, count] = [
                ...values
            ].reduce((most, one)=>one[1] > most[1] ? one : most);
            return [
                path,
                {
                    value,
                    share: count / all
                }
            ];
        });
        return {
            attribute,
            names: Object.fromEntries(named)
        };
    }
    best() {
        const preferred = PREFERRED.find((name)=>this.counts.has(name));
        if (preferred !== undefined) return preferred;
        const valuesOf = (paths)=>new Set([
                ...paths.values()
            ].flatMap((values)=>[
                    ...values.keys()
                ])).size;
        const sizes = [
            ...this.counts
        ].map(([name, paths])=>({
                name,
                values: valuesOf(paths)
            }));
        return sizes.sort((a, b)=>a.values - b.values)[0]?.name ?? '';
    }
    count(attribute, value, sid) {
        const paths = this.counts.get(attribute) ?? new Map();
        this.counts.set(attribute, paths);
        for(let level = 1; level <= Math.min(LEVELS_MAX, sid.length); level += 1){
            const path = sid.slice(0, level).join('-');
            const values = paths.get(path) ?? new Map();
            paths.set(path, values);
            values.set(value, (values.get(value) ?? 0) + 1);
        }
    }
}

//# sourceMappingURL=node-names.js.map