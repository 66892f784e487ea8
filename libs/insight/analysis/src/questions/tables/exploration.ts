import type { OutcomeRow, Rate } from '../../domain/answers.js';
import type { Dialect } from '../../domain/dialect.js';
import type { AnalysisFilter } from '../../domain/filter.js';
import { outcomePairs } from '../../domain/outcomes.js';
import { recallsOf } from '../../domain/relations.js';
import type { TablePage } from '../../domain/table-page.js';
import { outcomeRows, outcomeStatement } from '../outcome-rows.js';
import { type Asking, countedPanel, numberOf } from '../question.js';
import { columnsOf, DRAWN, rateCells, rowsAs } from './table.js';

const COLUMNS = columnsOf(
  ['position', 'Position', 'count'],
  ['fixedShown', 'Fixed: shown', 'count'],
  ['fixedClicks', 'Fixed: clicks', 'count'],
  ['fixed', 'Fixed: click rate', 'share'],
  ['fixedLow', 'from', 'share'],
  ['fixedHigh', 'to', 'share'],
  ['drawnShown', 'Drawn: shown', 'count'],
  ['drawnClicks', 'Drawn: clicks', 'count'],
  ['drawn', 'Drawn: click rate', 'share'],
  ['drawnLow', 'from', 'share'],
  ['drawnHigh', 'to', 'share'],
);

/** Place of an item in recall `r`, drawn or fixed; a list without the place says nothing. */
const kindAt = (place: string) => `CASE WHEN r.${DRAWN}[${place}] THEN 'drawn' ELSE 'fixed' END`;

/** Recalled items by kind and place, and items that drawn places had alone. */
function recalledStatements(recalls: string, { number, items }: Dialect): string[] {
  const each = items(DRAWN, `(${recalls}) AS answered`);
  const placed = `SELECT ${kindAt('r.rank')} AS adapter, r.rank AS place, r.item_id AS item_id`;
  const every = `${placed} FROM (${each}) AS r`;
  const fixed = "max(CASE WHEN adapter = 'fixed' THEN 1 ELSE 0 END)";
  return [
    `SELECT adapter, ${number('place')} AS place, ${number('count(*)')} AS counted ` +
      `FROM (${every}) AS every_item GROUP BY adapter, place`,
    `SELECT ${number('count(*)')} AS found FROM (SELECT item_id FROM (${every}) AS every_item ` +
      `GROUP BY item_id HAVING ${fixed} = 0) AS drawn_alone`,
  ];
}

/** Drawn places beside fixed ones of the same position. */
export async function exploration(asking: Asking, every: AnalysisFilter): Promise<TablePage> {
  const { store, actions, signal } = asking;
  const { dialect } = store;
  const panel = await countedPanel(asking, every);
  const recalls = `SELECT * FROM (${recallsOf(panel, dialect)}) AS a WHERE code = 'OK'`;
  const place = dialect.place('r.item_ids', 'p.item_id');
  const pairs =
    `SELECT ${kindAt(place)} AS adapter, p.position AS position, p.impression AS impression, ` +
    'p.click AS click, p.conversion AS conversion ' +
    `FROM (${outcomePairs(panel, actions, dialect)}) AS p ` +
    `JOIN (${recalls}) AS r ON r.recall_id = p.recall_id`;
  const [recalled = [], alone = [], outcomes = []] = await store.rows(
    [...recalledStatements(recalls, dialect), outcomeStatement(pairs, dialect)],
    signal,
  );
  const { outcome } = outcomeRows(recalled, outcomes);
  const at = (kind: string, position: number) =>
    outcome.find((row) => row.adapter === kind && row.position === position);
  const positions = outcome.flatMap(({ adapter, position }) =>
    adapter === 'drawn' && position > 0 ? [position] : [],
  );
  const rows = positions.map((position) => {
    const [fixed, drawn] = [clicksOf(at('fixed', position)), clicksOf(at('drawn', position))];
    const counts = { fixedShown: fixed.trials, fixedClicks: fixed.successes };
    const drawnCounts = { drawnShown: drawn.trials, drawnClicks: drawn.successes };
    const rates = Object.assign({}, rateCells('fixed', fixed), rateCells('drawn', drawn));
    const lost = fixed.trials === 0 ? 0 : drawn.trials * fixed.rate - drawn.successes;
    return Object.assign({ position, lost }, counts, drawnCounts, rates);
  });
  const lost = rows.reduce((sum, row) => sum + row.lost, 0);
  const drawn = at('drawn', 0);
  return {
    name: 'exploration',
    oneIn: panel.oneIn,
    figures: [
      { label: 'Drawn places', form: 'count', value: drawn?.recalled ?? 0 },
      { label: 'Clicks on them', form: 'count', value: clicksOf(drawn).successes },
      { label: 'Clicks that they cost', form: 'number', value: rows.length === 0 ? null : lost },
      { label: 'Ads that only they had', form: 'count', value: numberOf(alone[0], 'found') },
    ],
    columns: COLUMNS,
    rows: rowsAs(COLUMNS, rows),
    isCut: false,
  };
}

const NO_CLICKS: Rate = { successes: 0, trials: 0, rate: 0, low: 0, high: 0 };
const clicksOf = (row: OutcomeRow | undefined): Rate => row?.clicks ?? NO_CLICKS;
