import { readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { noticeOfEarlierStores } from "../../libs/ops/config/src/index.js";
import { visible } from "../../libs/ops/errors/src/index.js";
export const STORE_KINDS = [
    'behaviours',
    'catalogue-changes',
    'adapters',
    'weights'
];
/** Their names as libs/ops/config has them. */ const KEPT_STORES = [
    'behaviours',
    'changes',
    'adapters',
    'weights'
];
/** On the standard error: a command that looks at the demo's stores may mean another model's. */ export function warnOfEarlierStores(config) {
    const notice = noticeOfEarlierStores(config, KEPT_STORES);
    if (notice !== '') process.stderr.write(visible(`${notice}\n`));
}
/** Those that exist. */ export async function configuredStores(config) {
    const stores = [];
    const add = async (kind, folder)=>{
        if (folder !== '' && (await namesIn(folder)).length > 0) {
            stores.push({
                kind,
                name: kind,
                folder
            });
        }
    };
    if (config.behaviours.store === 'embedded') await add('behaviours', config.behaviours.path);
    const { changesPath } = config.catalogue;
    for (const folder of changesPath === '' ? [] : await changeFolders(changesPath)){
        const name = `catalogue-changes/${relative(changesPath, folder)}`;
        stores.push({
            kind: 'catalogue-changes',
            name,
            folder
        });
    }
    await add('adapters', config.adapters.path);
    await add('weights', config.weights.path);
    return stores;
}
export function namesIn(folder) {
    return readdir(folder).catch(()=>[]);
}
/** One for each set of sources, below the name of a catalogue where there are several. */ async function changeFolders(root) {
    const folders = [];
    for (const entry of (await readdir(root, {
        withFileTypes: true
    }).catch(()=>[]))){
        if (!entry.isDirectory() || entry.name.startsWith('cut-')) continue;
        const folder = join(root, entry.name);
        const names = await namesIn(folder);
        const isOfChanges = names.includes('marks') || names.some((name)=>/^\d+\.changes$/.test(name));
        if (isOfChanges) folders.push(folder);
        else folders.push(...await changeFolders(folder));
    }
    return folders;
}

//# sourceMappingURL=configured-stores.js.map