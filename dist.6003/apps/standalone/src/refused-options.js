import { CONFIG_KEYS } from "../../../libs/ops/config/src/index.js";
import { TesseraError } from "../../../libs/ops/errors/src/index.js";
const OPTION = /^engineOpen\.options\.(kv)?(\w+)/;
/** A refused option of the engine, named by the key and variable that an operator writes. */ export function namedByKey(thrown) {
    const error = TesseraError.from(thrown);
    const [option, pool, name = ''] = OPTION.exec(error.field ?? '') ?? [];
    if (option === undefined) return error;
    const areas = pool === undefined ? [
        'engine',
        'model',
        'tasks'
    ] : [
        'kv'
    ];
    const own = pool === undefined ? name : `${name.charAt(0).toLowerCase()}${name.slice(1)}`;
    const key = CONFIG_KEYS.find(({ path })=>areas.some((area)=>path === `${area}.${own}`));
    if (key === undefined) return error;
    const message = error.message.replace(option, `${key.path} (${key.variable})`);
    return new TesseraError('CONFIG_INVALID', message, {
        field: key.path,
        cause: error
    });
}

//# sourceMappingURL=refused-options.js.map