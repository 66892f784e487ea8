import { securityOf } from "../../../ops/redis/src/index.js";
import { parseStoreAddress } from "./domain/store-address.js";
import { RedisSharedStore } from "./outside/redis-store.js";
import { S3SharedStore } from "./outside/s3-store.js";
/**
 * The store of an address. Nothing is asked yet.
 * @param field of the configuration that has the address
 * @throws TesseraError CONFIG_INVALID
 */ export function openStore(field, settings) {
    const address = parseStoreAddress(field, settings.address);
    if (address.kind === 's3') return new S3SharedStore({
        ...settings,
        field,
        address
    });
    const security = settings.identity && securityOf(settings.identity);
    return new RedisSharedStore({
        ...settings,
        field,
        address,
        security
    });
}

//# sourceMappingURL=open-store.js.map