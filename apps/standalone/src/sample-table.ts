import { visible } from '@tessera/errors';
import type { RecallAnswer } from '@tessera/recall';

const TITLE_CHARACTERS_MAX = 56;

function cut(text: string): string {
  const characters = [...text];
  if (characters.length <= TITLE_CHARACTERS_MAX) return text;
  return `${characters.slice(0, TITLE_CHARACTERS_MAX - 1).join('')}…`;
}

/** Recall as a table: rank, item, semantic ID, score, title. */
export function sampleTable(answer: RecallAnswer): string {
  const header = ['rank', 'item', 'SID', 'score', 'title'];
  const rows = answer.items.map((item) => [
    String(item.rank),
    visible(item.itemId),
    item.sid.join('-'),
    item.score.toFixed(3),
    cut(visible(item.title)),
  ]);
  const widths = header.map((name, column) =>
    Math.max(name.length, ...rows.map((row) => [...(row[column] ?? '')].length)),
  );
  const line = (cells: readonly string[]) =>
    `  ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd();
  return [line(header), ...rows.map(line)].join('\n');
}
