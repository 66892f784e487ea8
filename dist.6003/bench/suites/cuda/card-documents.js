import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { TesseraError } from "../../../libs/ops/errors/src/index.js";
import { z } from "zod";
const LINE = z.object({
    name: z.string().min(1),
    value: z.number(),
    unit: z.string(),
    /** Floating-point operations that a time cannot do without; 0: not said. */ operations: z.number().nonnegative().default(0),
    /** Bytes through device memory, likewise. */ bytes: z.number().nonnegative().default(0)
});
const DOCUMENT = z.object({
    card: z.string().min(1),
    results: z.array(LINE)
});
/** The cards that documents are of, as the machine of a report. */ export const cardsOf = (documents)=>[
        ...new Set(documents.map(({ card })=>card))
    ].join(', ');
/** @throws TesseraError REQUEST_INVALID for a text that is no document of results */ export function parseDocument(text, place) {
    const parsed = DOCUMENT.safeParse(jsonOf(text));
    if (parsed.success) return parsed.data;
    const issue = parsed.error.issues[0];
    throw new TesseraError('REQUEST_INVALID', `${place}: expected a document {card, results}, got ${issue?.message ?? 'something else'}`, {
        field: issue === undefined || issue.path.length === 0 ? place : issue.path.join('.')
    });
}
function jsonOf(text) {
    try {
        return JSON.parse(text);
    } catch  {
        return undefined;
    }
}
/**
 * Documents that runs have left in a folder, in the order of their names.
 * @throws TesseraError REQUEST_INVALID for a folder without any, or a file that is none
 */ export function readDocuments(folder) {
    const names = existsSync(folder) ? readdirSync(folder).filter((name)=>name.endsWith('.json')) : [];
    if (names.length === 0) {
        throw new TesseraError('REQUEST_INVALID', `${folder}: expected a folder with the outputs of a run on a card, NAME.json, got none`, {
            field: 'measured'
        });
    }
    return names.sort().map((name)=>parseDocument(readFileSync(join(folder, name), 'utf8'), join(folder, name)));
}

//# sourceMappingURL=card-documents.js.map