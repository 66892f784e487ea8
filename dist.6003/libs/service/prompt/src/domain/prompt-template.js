/**
 * The prompt template as data; docs/integrate/prompt-template.md describes the file that it is read
 * from.
 */ /** How the codes of a level are written in the vocabulary. */ /** Keys of the profile or scene slots, in the order of the segments. */ export function slotKeys(template, kind) {
    const keys = template.segments.flatMap((segment)=>segment.kind === kind ? [
            segment.key
        ] : []);
    return [
        ...new Set(keys)
    ];
}

//# sourceMappingURL=prompt-template.js.map