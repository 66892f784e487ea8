import { readFile, realpath } from "node:fs/promises";
import { join, sep } from "node:path";
import { TesseraError } from "../../libs/ops/errors/src/index.js";
import { isInnerPath } from "../../libs/ops/files/src/index.js";
import { z } from "zod";
import { backed } from "./backup-store.js";
import { STORE_KINDS } from "./configured-stores.js";
export const BACKUP_LIST = 'backup.json';
const FORMAT = 1;
const CHANGES = 'catalogue-changes';
const inner = z.string().refine(isInnerPath, 'a path below the backup');
const storeSchema = z.object({
    kind: z.enum(STORE_KINDS),
    name: inner
}).refine(({ kind, name })=>isNameOf(kind, name), 'a name of its kind');
const listSchema = z.object({
    format: z.literal(FORMAT),
    stores: z.array(storeSchema),
    files: z.array(z.object({
        path: inner,
        bytes: z.number(),
        sha256: z.string()
    }))
});
/** Only changes of catalogues have more than one folder. */ function isNameOf(kind, name) {
    return kind === CHANGES ? name.startsWith(`${CHANGES}/`) : name === kind;
}
function newer(format) {
    const got = `format ${String(format).slice(0, 20)}, which a newer release wrote`;
    return new TesseraError('STORE_NEWER', `--from: ${BACKUP_LIST}: expected format 1, got ${got}`);
}
export function corrupt(message) {
    return new TesseraError('STORE_CORRUPT', `--from: ${message}`);
}
/**
 * Content of a backup by its list, every file of it looked at.
 * @throws TesseraError STORE_CORRUPT for one that is not whole, or leads out of its folder
 */ export async function checkedList(from) {
    const text = await readFile(join(from, BACKUP_LIST), 'utf8').catch(()=>{
        throw corrupt(`${from}: expected ${BACKUP_LIST}, got no such file: no backup, or broken off`);
    });
    const list = parsed(text);
    const root = await realpath(from);
    for (const { path, bytes, sha256 } of list.files){
        if (!list.stores.some(({ name })=>path.startsWith(`${name}/`))) {
            throw corrupt(`${BACKUP_LIST}: ${path}: expected a file of a store of the list`);
        }
        const found = await fileBelow(root, path).catch(()=>undefined);
        if (found?.bytes === bytes && found.sha256 === sha256) continue;
        throw corrupt(`${path}: expected ${bytes} bytes of SHA-256 ${sha256}, got something else`);
    }
    return list;
}
function parsed(text) {
    try {
        const document = JSON.parse(text);
        if (Number(document?.format) > FORMAT) throw newer(document.format);
        const found = listSchema.safeParse(document);
        if (found.success) return found.data;
        const [issue] = found.error.issues;
        throw new Error(`${issue?.path.join('.')}: expected ${issue?.message}`);
    } catch (cause) {
        if (cause instanceof TesseraError) throw cause;
        throw corrupt(`${BACKUP_LIST}: ${cause.message}`);
    }
}
/** No link leads out of the backup. */ async function fileBelow(root, path) {
    const found = await realpath(join(root, path));
    if (!found.startsWith(root + sep)) throw new Error('outside');
    return backed(root, found);
}

//# sourceMappingURL=backup-list.js.map