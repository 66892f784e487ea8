/** The number attributes by which items are in their flight (docs/concepts/eligibility.md). */ import { expecting } from "../../../../ops/errors/src/index.js";
const invalid = expecting('CONFIG_INVALID');
/**
 * Reads `flight_begin_ms,flight_end_ms`; undefined for ''.
 * @throws TesseraError CONFIG_INVALID
 */ export function parseFlight(text) {
    if (text === '') return undefined;
    const [begin = '', end = '', more] = text.split(',').map((name)=>name.trim());
    if (begin !== '' && end !== '' && begin !== end && more === undefined) return {
        begin,
        end
    };
    throw invalid('catalogue.flight', 'two names of attributes, separated by a comma', `'${text}'`);
}

//# sourceMappingURL=flight.js.map