import { TesseraError } from "../../../../ops/errors/src/index.js";
/** The model alone, by name. */ const BASE = 'base';
const SHOWN_CHARACTERS = 80;
export const NO_ADAPTERS = new Map();
/**
 * Undefined: the model alone.
 * @throws TesseraError ADAPTER_NOT_FOUND naming `field`
 */ export function adapterOf(adapters, name, field) {
    if (name === '' || name === BASE) return undefined;
    const found = adapters.get(name);
    if (found !== undefined) return found;
    const names = [
        ...adapters.keys(),
        BASE
    ].join(', ');
    const message = `${field}: expected one of ${names}, got '${name.slice(0, SHOWN_CHARACTERS)}'`;
    throw new TesseraError('ADAPTER_NOT_FOUND', message, {
        field
    });
}

//# sourceMappingURL=named-adapters.js.map