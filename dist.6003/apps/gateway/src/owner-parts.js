import { errorOf } from "./node-failure.js";
import { renumberedError } from "./relevance/part-numbers.js";
/** @param partitions of each entry's user; undefined: it names none */ export function ownerParts(cluster, partitions, role) {
    const parts = new Map();
    for (const [place, partition] of partitions.entries()){
        const isOwned = partition !== undefined;
        const owner = isOwned ? cluster.choose(partition, role)?.link.member.name ?? '' : undefined;
        const part = parts.get(owner) ?? {
            partition,
            places: []
        };
        part.places.push(place);
        parts.set(owner, part);
    }
    return [
        ...parts.values()
    ];
}
/** True for what every node would refuse in the same words. */ const isFault = ({ row, retryable })=>!retryable && row.http < 500;
/**
 * Entries of the answer, in the order of the call. Rejects with a part's refusal where that is a
 * fault of the request, where nothing stands for it, and where no part was answered.
 */ export async function askParts(parts, { ask, failed }) {
    const entries = [];
    const refusals = [];
    await Promise.all(parts.map(async (part)=>{
        try {
            const answered = await ask(part);
            for (const [at, place] of part.places.entries())entries[place] = answered[at];
        } catch (thrown) {
            const error = renumberedError(errorOf(thrown), part.places);
            if (failed === undefined || isFault(error)) throw error;
            refusals.push(error);
            for (const place of part.places)entries[place] = failed(error);
        }
    }));
    if (refusals.length === parts.length) throw refusals[0];
    return entries;
}

//# sourceMappingURL=owner-parts.js.map