import { TesseraError } from "../../../../ops/errors/src/index.js";
import { isInnerPath } from "../../../../ops/files/src/index.js";
import { z } from "zod";
const FORMAT = 1;
const inner = z.string().refine(isInnerPath, 'a path inside the store');
/** A user who was erased, for nodes and disks that have not read of it. */ const erasedSchema = z.object({
    userId: z.string(),
    withBehaviours: z.boolean(),
    withRecords: z.boolean(),
    offset: z.number().int(),
    atMs: z.number()
});
const manifestSchema = z.object({
    format: z.number(),
    log: z.string(),
    /** Every entry up to it is in the files. */ offset: z.number().int(),
    /** Of the log there; '' where an earlier release made the snapshot. */ chain: z.string().default(''),
    atMs: z.number(),
    files: z.array(z.object({
        store: z.string(),
        path: inner,
        bytes: z.number(),
        sha256: z.string().regex(/^[0-9a-f]{64}$/)
    })),
    /** Ascending by offset. */ erased: z.array(erasedSchema)
});
const OFFSET_DIGITS = 15;
/** Of all manifests and files of a log: a store may have had those of another one. */ export const manifestsOf = (log)=>`snapshots/${log}/`;
export const filesOf = (log)=>`files/${log}/`;
/** In the order of the offsets. Two states that a log might begin with have other names. */ export const manifestName = ({ log, offset, entry })=>`${manifestsOf(log)}${String(offset).padStart(OFFSET_DIGITS, '0')}-${entry}.json`;
export const fileName = (log, sha256)=>`${filesOf(log)}${sha256}`;
/** User of an entry that erases; undefined where it names none: it was refused. */ export function erasedUserOf(body, offset, atMs) {
    return erasedSchema.safeParse(Object.assign({}, body, {
        offset,
        atMs
    })).data;
}
export function manifestText(manifest) {
    return JSON.stringify({
        format: FORMAT,
        ...manifest
    });
}
/** @throws TesseraError STORE_NEWER, STORE_CORRUPT */ export function parsedManifest(name, bytes) {
    const found = manifestSchema.safeParse(jsonOf(bytes));
    if (found.success && found.data.format === FORMAT) return found.data;
    const isNewer = found.success && found.data.format > FORMAT;
    const got = isNewer ? `format ${found.data.format}, which a newer release wrote` : 'another text';
    const message = `${name}: expected a snapshot of format ${FORMAT}, got ${got}`;
    throw new TesseraError(isNewer ? 'STORE_NEWER' : 'STORE_CORRUPT', message);
}
function jsonOf(bytes) {
    try {
        return JSON.parse(Buffer.from(bytes).toString());
    } catch  {
        return undefined;
    }
}

//# sourceMappingURL=manifest.js.map