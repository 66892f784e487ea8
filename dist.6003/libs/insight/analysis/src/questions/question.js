import { recallsOf } from "../domain/relations.js";
export const numberOf = (row, name)=>Number(row?.[name] ?? 0);
export const textOf = (row, name)=>String(row?.[name] ?? '');
/** Recalls that a panel of users has at most, about. */ const PANEL_RECALLS = 50_000;
/** To compare two lists takes longer than to read one. */ const OVERLAP_COST = 2.5;
/**
 * The filter for questions that read lists of items, which take a time by their number: all of the
 * recalls, or those of one user in so many. A panel is the same users at all times, and has no
 * recall without a user.
 */ export function panelsOf({ panelRecalls = PANEL_RECALLS }, filter, { recalls, ofUsers }) {
    const oneIn = (recallsMax)=>Math.max(1, Math.ceil(ofUsers / recallsMax));
    const isPanel = recalls > panelRecalls;
    return {
        whole: {
            ...filter,
            oneIn: isPanel ? Math.max(2, oneIn(panelRecalls)) : 1
        },
        overlap: {
            ...filter,
            oneIn: oneIn(panelRecalls / OVERLAP_COST)
        }
    };
}
export async function countedPanel(asking, filter) {
    const { dialect } = asking.store;
    const count = `SELECT ${dialect.number('count(*)')} AS recalls, ` + `${dialect.number('sum(CASE WHEN user_hash <> 0 THEN 1 ELSE 0 END)')} AS of_users ` + `FROM (${recallsOf(filter, dialect)}) AS r WHERE code = 'OK'`;
    const [rows = []] = await asking.store.rows([
        count
    ], asking.signal);
    return panelsOf(asking, filter, answeredOf(rows)).whole;
}
/** Of rows with parts of them. */ export function answeredOf(rows) {
    const sum = (name)=>rows.reduce((all, row)=>all + numberOf(row, name), 0);
    return {
        recalls: sum('recalls'),
        ofUsers: sum('of_users')
    };
}

//# sourceMappingURL=question.js.map