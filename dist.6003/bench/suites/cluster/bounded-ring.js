import { xxh32 } from "../../../libs/cluster/routing/src/index.js";
const POINTS_PER_NODE = 160;
const encoder = new TextEncoder();
/** A ring of points, as HAProxy's `hash-type consistent` and Envoy's `ring_hash` have it. */ export class Ring {
    points;
    owners;
    constructor(names){
        const placed = names.flatMap((name, node)=>Array.from({
                length: POINTS_PER_NODE
            }, (_, n)=>({
                    at: xxh32(encoder.encode(`${name}#${n}`)),
                    node
                })));
        placed.sort((a, b)=>a.at - b.at || a.node - b.node);
        this.points = Float64Array.from(placed, ({ at })=>at);
        this.owners = Uint16Array.from(placed, ({ node })=>node);
    }
    /** The owner, and those behind it in the order of the ring. */ *order(hash) {
        let [low, high] = [
            0,
            this.points.length
        ];
        while(low < high){
            const middle = low + high >>> 1;
            if (this.points[middle] < hash) low = middle + 1;
            else high = middle;
        }
        const seen = new Set();
        for(let step = 0; step < this.points.length; step += 1){
            const node = this.owners[(low + step) % this.points.length];
            if (seen.has(node)) continue;
            seen.add(node);
            yield node;
        }
    }
}

//# sourceMappingURL=bounded-ring.js.map