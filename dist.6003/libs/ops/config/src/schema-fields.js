/** Keys of the configuration: type, bounds, default and meaning. */ import { z } from "zod";
export function integer(min, max, fallback, meaning, defaultText) {
    const meta = {
        expected: `integer ${min}..${max}`,
        meaning
    };
    return z.int().min(min).max(max).default(fallback).meta(defaultText === undefined ? meta : {
        ...meta,
        defaultText
    });
}
export function text(fallback, meaning, expected = 'text') {
    return z.string().max(4096).default(fallback).meta({
        expected,
        meaning
    });
}
export function nonEmptyText(fallback, meaning) {
    const expected = 'text that is not empty';
    return z.string().min(1).max(4096).default(fallback).meta({
        expected,
        meaning
    });
}
/** The model that is served where none is named, from the repository. */ export const DEMO_MODEL = 'models/demo';
const DATA_FOLDER = 'data';
/** Where a store lies that no key names: the demo's apart, since they are of its catalogue. */ export function defaultFolder(name, servesDemo) {
    return servesDemo ? `${DATA_FOLDER}/demo/${name}` : `${DATA_FOLDER}/${name}`;
}
/** A folder of a store; its default depends on model.path (load-config.ts puts it in its place). */ export function storeFolder(name, meaning, { canBeEmpty }) {
    const expected = canBeEmpty ? 'text' : 'text that is not empty';
    const defaultText = `${defaultFolder(name, false)}; demo: ${defaultFolder(name, true)}`;
    return z.string().min(canBeEmpty ? 0 : 1).max(4096).default(defaultFolder(name, false)).meta({
        expected,
        meaning,
        defaultText,
        storeName: name
    });
}
export function oneOf(values, fallback, meaning) {
    const expected = `one of ${values.join(', ')}`;
    return z.enum(values).default(fallback).meta({
        expected,
        meaning
    });
}

//# sourceMappingURL=schema-fields.js.map