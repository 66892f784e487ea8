import { isAbsolute } from "node:path";
import { TesseraError } from "../../../ops/errors/src/index.js";
import { FolderEntryStore } from "./outside/folder-entry-store.js";
import { S3EntryStore } from "./outside/s3-entry-store.js";
const FIELD = 'cluster.logStore';
const S3 = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,62})((?:\/(?!\.)[\w.-]+)*)\/?$/;
/**
 * The store of a location: the absolute path of a folder that all nodes see, or
 * `s3://BUCKET/PREFIX`. Nothing is asked yet.
 * @throws TesseraError CONFIG_INVALID for any other location
 */ export function openEntryStore(location, s3Settings) {
    const [, bucket, path = ''] = S3.exec(location) ?? [];
    if (bucket !== undefined) {
        const prefix = path === '' ? '' : `${path.slice(1)}/`;
        return new S3EntryStore(location, bucket, prefix, s3Settings);
    }
    if (isAbsolute(location)) return new FolderEntryStore(location);
    const message = `${FIELD}: expected s3://BUCKET/PREFIX or an absolute path, got '${location}'`;
    throw new TesseraError('CONFIG_INVALID', message, {
        field: FIELD
    });
}

//# sourceMappingURL=open-entry-store.js.map