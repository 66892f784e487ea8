import { MESSAGE_CHANGES_MAX } from "../../../../libs/service/catalogue/src/index.js";
/**
 * Neighbours that may be applied at once: of one catalogue, no item named twice, not too many. A
 * run has the effect of its messages one after another.
 */ export function changeRuns(messages) {
    const runs = [];
    let items = new Set();
    for (const message of messages){
        const { catalogue, changes } = message;
        const run = runs.at(-1);
        const joins = run?.[0]?.catalogue === catalogue && items.size + changes.length <= MESSAGE_CHANGES_MAX && changes.every(({ itemId })=>itemId === '' || !items.has(itemId));
        if (joins) {
            run.push(message);
        } else {
            runs.push([
                message
            ]);
            items = new Set();
        }
        for (const { itemId } of changes)items.add(itemId);
    }
    return runs;
}

//# sourceMappingURL=change-runs.js.map