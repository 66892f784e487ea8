import { expecting } from "../../../../ops/errors/src/index.js";
const MODELS_MAX = 16;
const NAME = /^[A-Za-z0-9][A-Za-z0-9._/-]{0,127}$/;
const invalid = expecting('CONFIG_INVALID');
/**
 * Reads `minilm=models/minilm; big=models/big`.
 * @param key of the configuration that has the text
 * @throws TesseraError CONFIG_INVALID
 */ export function parseModelSpecs(text, key) {
    const entries = text.split(';').map((entry)=>entry.trim()).filter((entry)=>entry !== '');
    if (entries.length > MODELS_MAX) throw invalid(key, `at most ${MODELS_MAX} folders`, entries.length);
    const specs = entries.map((entry)=>parseSpec(entry, key));
    const names = specs.map(({ name })=>name);
    const twice = names.find((name, i)=>names.indexOf(name) !== i);
    if (twice !== undefined) throw invalid(key, 'names that differ', `'${twice}' twice`);
    return specs;
}
function parseSpec(entry, key) {
    const equals = entry.indexOf('=');
    const name = entry.slice(0, Math.max(equals, 0)).trim();
    const path = entry.slice(equals + 1).trim();
    if (NAME.test(name) && path !== '') return {
        name,
        path
    };
    throw invalid(key, 'name=path, the name of letters, digits and . _ / -', `'${entry}'`);
}

//# sourceMappingURL=model-specs.js.map