import { COMPARISONS_MAX } from "../domain/inspection-store.js";
const TIME = 'make_timestamp_ms($3::DOUBLE::BIGINT)';
const SUMMARY = 'id, epoch_ms(time)::DOUBLE AS time_ms, author, title, user_count, overlap::DOUBLE AS overlap';
function comparisonFrom(row) {
    return {
        id: String(row.id),
        timeMs: Number(row.time_ms),
        author: String(row.author),
        title: String(row.title),
        userCount: Number(row.user_count),
        overlap: Number(row.overlap)
    };
}
/** Work of analysts in the store: notes, sets of recalls, comparisons. */ export class AnalystShelf {
    rows;
    constructor(rows){
        this.rows = rows;
    }
    /** Oldest first. */ async notes(recallId) {
        const found = await this.rows('SELECT id, recall, epoch_ms(time)::DOUBLE AS time_ms, author, text FROM notes ' + 'WHERE recall = $1 ORDER BY time, id', [
            recallId
        ]);
        return found.map((row)=>({
                id: String(row.id),
                recallId: String(row.recall),
                timeMs: Number(row.time_ms),
                author: String(row.author),
                text: String(row.text)
            }));
    }
    async addNote({ id, recallId, timeMs, author, text }) {
        const values = [
            id,
            recallId,
            timeMs,
            author,
            text
        ];
        await this.rows(`INSERT INTO notes VALUES ($1, $2, ${TIME}, $4, $5)`, values);
    }
    async removeNote(id) {
        return (await this.rows('DELETE FROM notes WHERE id = $1 RETURNING id', [
            id
        ])).length > 0;
    }
    async savedSets() {
        const found = await this.rows('SELECT name, epoch_ms(time)::DOUBLE AS time_ms, author, recalls FROM sets ORDER BY name');
        return found.map((row)=>({
                name: String(row.name),
                timeMs: Number(row.time_ms),
                author: String(row.author),
                recallIds: row.recalls
            }));
    }
    /** Takes the place of one of the same name. */ async saveSet({ name, timeMs, author, recallIds }) {
        await this.removeSet(name);
        const list = 'from_json($2, \'["VARCHAR"]\')';
        const values = [
            name,
            JSON.stringify(recallIds),
            timeMs,
            author
        ];
        await this.rows(`INSERT INTO sets SELECT $1, ${TIME}, $4, ${list}`, values);
    }
    async removeSet(name) {
        return (await this.rows('DELETE FROM sets WHERE name = $1 RETURNING name', [
            name
        ])).length > 0;
    }
    async comparisons() {
        const found = await this.rows(`SELECT ${SUMMARY} FROM comparisons ORDER BY time DESC, id LIMIT ${COMPARISONS_MAX}`);
        return found.map(comparisonFrom);
    }
    async comparison(id) {
        const [row] = await this.rows(`SELECT ${SUMMARY}, detail FROM comparisons WHERE id = $1`, [
            id
        ]);
        return row && {
            ...comparisonFrom(row),
            detail: String(row.detail)
        };
    }
    async saveComparison(comparison) {
        const { id, timeMs, author, title, userCount, overlap, userIds, detail } = comparison;
        await this.rows(`INSERT INTO comparisons SELECT $1, ${TIME}, $4, $5, $6, $7, ` + 'from_json($2, \'["VARCHAR"]\'), $8', [
            id,
            JSON.stringify(userIds),
            timeMs,
            author,
            title,
            userCount,
            overlap,
            detail
        ]);
        await this.rows('DELETE FROM comparisons WHERE id NOT IN ' + `(SELECT id FROM comparisons ORDER BY time DESC, id LIMIT ${COMPARISONS_MAX})`);
    }
    async removeComparison(id) {
        await this.rows('DELETE FROM notes WHERE recall = $1', [
            id
        ]);
        const gone = await this.rows('DELETE FROM comparisons WHERE id = $1 RETURNING id', [
            id
        ]);
        return gone.length > 0;
    }
}

//# sourceMappingURL=analyst-shelf.js.map