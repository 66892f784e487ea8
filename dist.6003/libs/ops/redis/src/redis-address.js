import { TesseraError } from "../../errors/src/index.js";
/** @throws TesseraError CONFIG_INVALID with the field, for what is no address */ export function parseRedisNodes(field, address) {
    return address.replace(/^rediss?:\/\//, '').split(',').map((text)=>{
        const match = /^\s*\[?([^\]\s]+?)\]?:(\d{1,5})\s*$/.exec(text);
        if (match?.[1] !== undefined) return {
            host: match[1],
            port: Number(match[2])
        };
        const message = `${field}: expected HOST:PORT[,HOST:PORT...], got '${text}'`;
        throw new TesseraError('CONFIG_INVALID', message, {
            field
        });
    });
}

//# sourceMappingURL=redis-address.js.map