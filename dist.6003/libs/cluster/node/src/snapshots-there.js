import { TesseraError } from "../../../ops/errors/src/index.js";
import { bodyOf } from "../../log/src/index.js";
import { parsedManifest } from "./domain/manifest.js";
import { entriesOf } from "./entries-of.js";
import { fetchState } from "./state-files.js";
/** Kinds of entries that name a snapshot. */ export const BEGINS = 'begins';
export const SNAPSHOT = 'snapshot';
/**
 * Fetches the newest snapshot that is whole and has every entry up to `offset`, beside the state of
 * this node. Undefined where there is none. One that is damaged is passed over for the one before.
 */ export async function fetchedSnapshot({ folders, ...places }, bounds, offset) {
    for await (const manifest of snapshotsOf(places, bounds)){
        if (manifest.offset < Math.max(offset, bounds.first - 1)) return undefined;
        try {
            await fetchState(places.store, folders, manifest);
            return manifest;
        } catch (thrown) {
            unlessDamaged(places, thrown);
        }
    }
    return undefined;
}
/** For a node that keeps users' data alone: it needs the names of the erased. */ export async function newestSnapshot(places, bounds) {
    for await (const manifest of snapshotsOf(places, bounds))return manifest;
    return undefined;
}
/** Those that the log names, the newest first. */ async function* snapshotsOf(places, { first, end }) {
    const { log, store } = places;
    const names = [];
    let hasBegun = false;
    for await (const { kind, text } of entriesOf(log, first, end)){
        // Of several founders the first counts: the others' entries are repeated ones.
        if (kind === SNAPSHOT || kind === BEGINS && !hasBegun) names.push(snapshotIn(text));
        hasBegun ||= kind === BEGINS;
    }
    for (const name of names.filter(Boolean).reverse()){
        try {
            yield parsedManifest(name, await store.get(name));
        } catch (thrown) {
            unlessDamaged(places, thrown);
        }
    }
}
function unlessDamaged({ nodeLog }, thrown) {
    const error = TesseraError.from(thrown);
    if (error.code !== 'STORE_CORRUPT' && error.code !== 'REQUEST_INVALID') throw error;
    nodeLog.warn({
        err: error
    }, 'a snapshot of the cluster log cannot be used');
}
/** '' where the entry names none. */ function snapshotIn(text) {
    try {
        const { snapshot } = bodyOf(text);
        return typeof snapshot === 'string' ? snapshot : '';
    } catch  {
        return '';
    }
}

//# sourceMappingURL=snapshots-there.js.map