import { overlapOf, recallsOf, valuedVersions } from "../domain/relations.js";
import { numberOf, textOf } from "./question.js";
const PARTS = 10;
/** Items and values that two versions share at most: the most frequent. */ const SHARED_MAX = 20;
/**
 * Users with recalls of two versions under one model and one state of the catalogue, so that
 * nothing differs but the versions and what the user did between: of each the newest such pair.
 */ function pairsStatement(recalls, dialect) {
    const moment = 'adapter, model, catalogue_seq, user_hash';
    const newest = `SELECT ${moment}, max(recall_id) AS last_id, ` + `${dialect.newest('item_ids', 'recall_id')} AS item_ids FROM ${recalls} GROUP BY ${moment}`;
    const { overlap, where } = overlapOf(dialect);
    const same = [
        'user_hash',
        'model',
        'catalogue_seq'
    ].map((name)=>`a.${name} = b.${name}`);
    const together = 'SELECT a.adapter AS earlier, b.adapter AS later, a.user_hash AS user_hash, ' + 'a.catalogue_seq AS seq, greatest(a.last_id, b.last_id) AS last_id, ' + `a.item_ids AS own, b.item_ids AS others, ${overlap} AS share ` + `FROM (${newest}) AS a JOIN (${newest}) AS b ON ${same.join(' AND ')} ` + `WHERE a.adapter < b.adapter AND ${where}`;
    const last = [
        'own',
        'others',
        'share',
        'seq'
    ].map((name)=>`${dialect.newest(name, 'last_id')} AS last_${name}`).join(', ');
    const pair = 'earlier, later, user_hash';
    return `SELECT ${pair}, ${last} FROM (${together}) AS t GROUP BY ${pair}`;
}
/** Items that both recalls of a pair have, and their values: kind, key, title, n. */ function sharedStatement(filter, by, pairs, dialect) {
    const { number } = dialect;
    const columns = 'earlier, later, user_hash, last_others, last_seq';
    const each = dialect.each(columns, 'last_own', 'item_id', `(${pairs}) AS pair`);
    const versions = valuedVersions(filter, by, dialect);
    const shared = 'SELECT s.earlier AS earlier, s.later AS later, s.user_hash AS user_hash, ' + 's.item_id AS item_id, v.title AS title, v.value AS value ' + `FROM (${each}) AS s JOIN (${versions}) AS v ON v.item_id = s.item_id ` + `WHERE ${dialect.has('s.last_others', 's.item_id')} AND v.from_seq <= s.last_seq ` + `AND s.last_seq < v.to_seq AND v.catalogue = ${dialect.text(filter.catalogue)}`;
    const keyed = `WITH shared AS (${shared}) SELECT earlier, later, 'value' AS kind, value AS key, ` + "'' AS title, count(*) AS n FROM shared GROUP BY earlier, later, value UNION ALL " + "SELECT earlier, later, 'item' AS kind, item_id AS key, max(title) AS title, " + 'count(DISTINCT user_hash) AS n FROM shared GROUP BY earlier, later, item_id';
    const placed = 'SELECT *, row_number() OVER (PARTITION BY earlier, later, kind ORDER BY n DESC, key) ' + `AS place FROM (${keyed}) AS keyed`;
    return `SELECT earlier, later, kind, key, title, ${number('n')} AS counted FROM (${placed}) ` + `AS placed WHERE place <= ${SHARED_MAX} ORDER BY place`;
}
/** Statements: users by overlap, users of both at any time, what the pairs share. */ export function pairStatements(filter, by, dialect) {
    const { number } = dialect;
    const answered = `SELECT * FROM (${recallsOf(filter, dialect)}) AS r WHERE code = 'OK'`;
    const recalls = `(${answered}) AS panel_recall WHERE user_hash <> 0`;
    const users = `SELECT DISTINCT adapter, user_hash FROM ${recalls}`;
    const pairs = pairsStatement(recalls, dialect);
    return [
        `SELECT earlier, later, floor(last_share * ${PARTS}) AS part, ` + `${number('count(*)')} AS users, sum(last_share) AS total ` + `FROM (${pairs}) AS pair GROUP BY earlier, later, part`,
        `SELECT a.adapter AS earlier, b.adapter AS later, ${number('count(*)')} AS users ` + `FROM (${users}) AS a JOIN (${users}) AS b ON a.user_hash = b.user_hash ` + 'WHERE a.adapter < b.adapter GROUP BY earlier, later',
        sharedStatement(filter, by, pairs, dialect)
    ];
}
export function pairsOf([byPart = [], both = [], shared = []]) {
    return both.map((row)=>{
        const [left, right] = [
            textOf(row, 'earlier'),
            textOf(row, 'later')
        ];
        const isOwn = (one)=>textOf(one, 'earlier') === left && textOf(one, 'later') === right;
        const parts = byPart.filter(isOwn);
        const users = parts.reduce((sum, one)=>sum + numberOf(one, 'users'), 0);
        const total = parts.reduce((sum, one)=>sum + numberOf(one, 'total'), 0);
        const histogram = Array.from({
            length: PARTS
        }, ()=>0);
        for (const one of parts){
            const part = Math.min(PARTS - 1, numberOf(one, 'part'));
            histogram[part] = (histogram[part] ?? 0) + numberOf(one, 'users');
        }
        const own = shared.filter(isOwn).map((one)=>({
                kind: textOf(one, 'kind'),
                key: textOf(one, 'key'),
                title: textOf(one, 'title'),
                count: numberOf(one, 'counted')
            }));
        const sharedOf = (kind)=>own.filter((one)=>one.kind === kind).map(({ key, title, count })=>({
                    key,
                    title,
                    count
                }));
        const overlap = users === 0 ? null : total / users;
        const lists = {
            items: sharedOf('item'),
            values: sharedOf('value')
        };
        const counts = {
            users,
            usersOfBoth: numberOf(row, 'users')
        };
        return Object.assign({
            left,
            right,
            overlap,
            histogram
        }, counts, lists);
    }).sort((a, b)=>a.left + a.right < b.left + b.right ? -1 : 1);
}

//# sourceMappingURL=version-pairs.js.map