// A rule of tidy on figures: one that README.md tells is a row of docs/measured.md, word for word,
// so that a command has one figure.
const SAME = 'the same';

/** Rows of the tables of a page with a line each; `the same` becomes the command above. */
function rowsOf(text) {
  let command = '';
  return text.split('\n').flatMap((line, index) => {
    const cells = line.split('|').slice(1, -1);
    if (cells.length !== 6) return [];
    const words = cells.map((cell) => cell.trim().replaceAll('**', ''));
    command = words[5] === SAME ? command : words[5];
    return [{ line: index + 1, row: [...words.slice(0, 5), command].join(' | ') }];
  });
}

/** All texts by path: rows of README.md that docs/measured.md does not have. */
export function figureFaults(texts) {
  const measured = new Set(rowsOf(texts.get('docs/measured.md') ?? '').map(({ row }) => row));
  return rowsOf(texts.get('README.md') ?? '')
    .filter(({ row }) => !measured.has(row))
    .map(({ line, row }) => ({
      path: 'README.md',
      line,
      message: `expected a row of docs/measured.md, got: ${row}`,
    }));
}
