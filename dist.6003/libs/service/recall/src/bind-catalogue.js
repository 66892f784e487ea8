import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { expecting } from "../../../ops/errors/src/index.js";
import { partsOfRegular } from "../../../ops/files/src/index.js";
import { NO_TOKEN } from "../../prompt/src/index.js";
const invalid = expecting('CATALOGUE_INVALID');
/**
 * Binds a catalogue to the model's vocabulary.
 * @throws TesseraError CATALOGUE_INVALID naming the item, its line and the template's key where an
 * item has a code that no token writes
 */ export async function bindCatalogue(engine, { name, catalogue, changes, sources }, { levelTokens, digest, codebookDigest }) {
    try {
        return engine.bind(catalogue, levelTokens, {
            template: digest,
            codebook: codebookDigest
        });
    } catch (refusal) {
        const { pages } = await changes.listItems();
        const unwritten = firstUnwritten(pages, levelTokens);
        if (unwritten === undefined) throw refusal;
        const { itemId, level, code } = unwritten;
        const item = `item ${JSON.stringify(itemId)}${await placeOf(itemId, sources)}`;
        throw invalid(name === '' ? 'catalogue.path' : 'catalogue.more', `codes that levels[${level}] of prompt.json has a token of the vocabulary for`, `${item} with sid[${level}] ${code}`, refusal);
    }
}
function firstUnwritten(pages, { levels }) {
    for (const page of pages){
        for (const { itemId, sid } of page){
            const level = sid.findIndex((code, at)=>(levels[at]?.[code] ?? NO_TOKEN) === NO_TOKEN);
            if (level >= 0) return {
                itemId,
                level,
                code: sid[level] ?? 0
            };
        }
    }
    return undefined;
}
/** File and line of an item in JSON lines, '' where no source is of these or has it. */ async function placeOf(itemId, sources) {
    const text = JSON.stringify(itemId).slice(1, -1);
    for (const { path } of sources){
        let number = 0;
        for await (const line of createInterface({
            input: Readable.from(partsOfRegular(path))
        })){
            number += 1;
            if (line.includes(text) && idOf(line) === itemId) return ` (${path}, line ${number})`;
        }
    }
    return '';
}
function idOf(line) {
    try {
        const { item_id: itemId } = JSON.parse(line);
        return String(itemId);
    } catch  {
        return undefined;
    }
}

//# sourceMappingURL=bind-catalogue.js.map