import { TesseraError } from "../../../../ops/errors/src/index.js";
const ACTION = /^[^\s,]{1,64}$/;
/**
 * Actions separated by commas; `*` for all. A behaviour without an action is a click: its sender
 * reports one kind alone.
 * @throws TesseraError CONFIG_INVALID
 */ export function parseClickActions(text) {
    const actions = text.split(',').map((action)=>action.trim());
    const wrong = actions.find((action)=>!ACTION.test(action));
    if (wrong !== undefined) {
        throw new TesseraError('CONFIG_INVALID', `behaviours.clickActions: expected actions separated by commas, or *, got '${text}'`, {
            field: 'behaviours.clickActions'
        });
    }
    const listed = new Set([
        '',
        ...actions
    ]);
    return listed.has('*') ? ()=>true : (action)=>listed.has(action);
}

//# sourceMappingURL=click-actions.js.map