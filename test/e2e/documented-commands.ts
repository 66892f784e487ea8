/** Command lines of the pages: what a reader copies from a block of shell. */

import { globSync, readFileSync } from 'node:fs';

export interface DocumentedLine {
  readonly page: string;
  /** The command as the page has it, its continuation lines and here-documents included. */
  readonly text: string;
  /** Lines of the same block that set variables for it. */
  readonly before: readonly string[];
}

const FENCE = /```(\w*)\n([\s\S]*?)```/g;
const COMMAND = /^(npm|npx|node|curl|python|docker|sudo|export) /m;
const COMMENT = / +# .*$/gm;
const SETS = /^(export )?[A-Za-z_]+=\S*( |$)/;

const pagesWithCommands = () => [
  'README.md',
  ...globSync('docs/**/*.md').filter((page) => !page.includes('node_modules')),
];

/** A line goes on behind a backslash, inside quotes and until the end of a here-document. */
function isWhole(text: string): boolean {
  const end = /<<(\w+)/.exec(text)?.[1];
  if (end !== undefined) return new RegExp(`\n${end}$`).test(text);
  const quotes = text.replace(/"[^"]*"/g, '').match(/'/g) ?? [];
  return !text.endsWith('\\') && quotes.length % 2 === 0;
}

function linesOf(page: string, block: string): DocumentedLine[] {
  const found: DocumentedLine[] = [];
  const before: string[] = [];
  let text = '';
  for (const line of block.replace(COMMENT, '').split('\n')) {
    if (text === '' && line.trim() === '') continue;
    text = text === '' ? line : `${text}\n${line}`;
    if (!isWhole(text)) continue;
    const isSetting = SETS.test(text) && !/\b(npm|curl) /.test(text);
    found.push({ page, text, before: [...before] });
    if (isSetting || text.includes('<<')) before.push(text);
    text = '';
  }
  if (text !== '') throw new Error(`${page}: a command that does not end: ${text}`);
  return found;
}

/** @throws for commands outside a block that is marked `sh` */
export function documentedLines(): DocumentedLine[] {
  return pagesWithCommands().flatMap((page) => {
    const text = readFileSync(page, 'utf8');
    const unmarked = [...text.matchAll(FENCE)].find(
      ([, language, block = '']) => language === '' && COMMAND.test(block),
    );
    const indented = /^ {4}(npm|curl|python) .*$/m.exec(text.replace(FENCE, ''));
    if (unmarked || indented) {
      throw new Error(
        `${page}: a command outside of a block of sh: ${(unmarked ?? indented)?.[0]}`,
      );
    }
    return [...text.matchAll(FENCE)]
      .filter(([, language]) => language === 'sh')
      .flatMap(([, , block = '']) => linesOf(page, block));
  });
}
