import { deltaChanges, exportBundle, readDelta } from "../../libs/service/catalogue/src/index.js";
import { TesseraError } from "../../libs/ops/errors/src/index.js";
import { wireChange } from "./wire-change.js";
/** Changes of a message of a batch: well below what gRPC takes. */ const MESSAGE_CHANGES = 4096;
const CALL_MS = 60_000;
const BATCH_MS = 600_000;
const LIST_MS = 3_600_000;
function stateOf(client) {
    return client.call('GetState', {}, CALL_MS);
}
async function* pagesOf(client) {
    for await (const { items } of client.stream('ListItems', {}, LIST_MS))yield items;
}
function checkLevels(codebook, { levelSizes }) {
    const level = codebook.findIndex((size, l)=>size > (levelSizes[l] ?? 0));
    if (level < 0) return;
    const field = `codebook[${level}]`;
    const expected = `expected at most ${levelSizes[level] ?? 0} codes, got ${codebook[level]}`;
    throw new TesseraError('CATALOGUE_INVALID', `${field}: ${expected}`, {
        field
    });
}
/**
 * Brings a service from the bundle that it has to the next one by the delta files, in one version:
 * what is interrupted has changed nothing, and may be given again.
 * @throws TesseraError CATALOGUE_INVALID naming file and row, or the version that does not fit
 */ export async function importDelta(client, folder, toleratedRows, onProgress) {
    const delta = await readDelta({
        folder,
        toleratedRows,
        onProgress
    });
    const { uuid, sinceUuid, codebook } = delta.manifest;
    const state = await stateOf(client);
    checkLevels(codebook, state);
    const bundle = {
        follows: state.bundleUuid === uuid ? uuid : sinceUuid,
        becomes: uuid
    };
    // The service says so too; here it is said before the items are listed.
    if (bundle.follows !== state.bundleUuid) {
        const field = 'since_bundle_uuid';
        const message = `${field}: expected '${state.bundleUuid}', got '${sinceUuid}'`;
        throw new TesseraError('CATALOGUE_INVALID', message, {
            field
        });
    }
    const present = [];
    for await (const page of pagesOf(client))present.push(page);
    const changes = deltaChanges(delta.items, delta.buckets, present);
    // One version, which is that of the bundle.
    const { sequence } = await applyBatch(client, changes, {
        bundle
    }, onProgress);
    return {
        changes: changes.length,
        badRows: delta.badRows,
        sequence,
        bundle: uuid
    };
}
/**
 * Changes as one version or not at all.
 * @param step goes with the last message
 */ export function applyBatch(client, all, step, onProgress) {
    function* messages() {
        let sent = 0;
        do {
            const some = all.slice(sent, sent + MESSAGE_CHANGES);
            sent += some.length;
            onProgress('changes', sent, all.length);
            const changes = some.map(wireChange);
            yield sent < all.length ? {
                changes
            } : {
                changes,
                ...step,
                last: true
            };
        }while (sent < all.length)
    }
    return client.send('ApplyBatch', messages(), BATCH_MS);
}
/** Writes the live state, one version of it, as a whole bundle. */ export async function exportState(client, folder, onProgress) {
    const { levelSizes } = await stateOf(client);
    return exportBundle(pagesOf(client), {
        folder,
        levelSizes,
        onProgress
    });
}

//# sourceMappingURL=bundles.js.map