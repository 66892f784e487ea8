import { readdirSync } from "node:fs";
import { resolve } from "node:path";
import { dataRoot } from "./repository-root.js";
import { CONFIG_KEYS } from "./schema.js";
import { defaultFolder } from "./schema-fields.js";
/** Caches: their loss costs time alone. */ const CACHES = new Set([
    'catalogue',
    'kv'
]);
/** The stores of this configuration that are no caches. */ function storesOf(config) {
    return CONFIG_KEYS.flatMap(({ path, storeName: name })=>{
        if (name === undefined || CACHES.has(name)) return [];
        if (name === 'behaviours' && config.behaviours.store !== 'embedded') return [];
        const [area = '', key = ''] = path.split('.');
        const folder = config[area]?.[key];
        return [
            {
                name,
                folder: String(folder)
            }
        ];
    });
}
function holdsSomething(folder) {
    try {
        return readdirSync(folder).length > 0;
    } catch  {
        return false;
    }
}
/**
 * The stores of the demo lay where those of every model did. Where there are none in their own
 * place yet, and some in that one, a line that says which and what to do; else ''.
 * @param stores of these alone; left out: of all
 */ export function noticeOfEarlierStores(config, stores, root = dataRoot) {
    const places = storesOf(config).filter(({ name })=>stores === undefined || stores.includes(name)).filter(({ name, folder })=>folder === resolve(root, defaultFolder(name, true)));
    if (places.some(({ folder })=>holdsSomething(folder))) return '';
    const earlier = places.map(({ name })=>resolve(root, defaultFolder(name, false))).filter(holdsSomething);
    if (earlier.length === 0) return '';
    return `the demo's stores lie in ${resolve(root, defaultFolder('', true))}, which has none of them; ` + `found ${earlier.join(', ')}: if these are the demo's, stop and move them there as ` + 'CHANGELOG.md says; if they are of another model, name it in model.path (TESSERA_MODEL_PATH)';
}

//# sourceMappingURL=earlier-stores.js.map