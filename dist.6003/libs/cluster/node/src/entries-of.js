import { readEntry } from "../../log/src/index.js";
/** Entries of the offsets that this release can read; unreadable ones are left out. */ export async function* entriesOf(log, from, to) {
    if (from > to) return;
    const stop = new AbortController();
    try {
        for await (const entries of log.read(from, stop.signal)){
            for (const { offset, atMs, bytes } of entries){
                if (offset > to) return;
                const read = readable(bytes);
                if (read !== undefined) yield {
                    ...read,
                    offset,
                    atMs
                };
            }
            if (entries.length === 0 || (entries.at(-1)?.offset ?? 0) >= to) return;
        }
    } finally{
        stop.abort();
    }
}
function readable(bytes) {
    try {
        return readEntry(bytes);
    } catch  {
        return undefined;
    }
}

//# sourceMappingURL=entries-of.js.map