// Rules of tools/tidy on links of Markdown pages, as pure functions: files and headings that links
// name are there, and a reader of docs/README.md finds each page of docs.
import { posix } from 'node:path';

const lineOf = (text, offset) => text.slice(0, offset).split('\n').length;
const blank = (match) => match.replace(/[^\n]/g, ' ');
const withoutFences = (text) => text.replace(/```[\s\S]*?```/g, blank);

/** The anchor that code hosts give a heading; the site is built with it too. */
export const anchorOf = (heading) =>
  heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');

/** Anchors of a page: equal headings are numbered. */
function anchorsOf(text) {
  const prose = withoutFences(text);
  const seen = new Map();
  const ofHeadings = [...prose.matchAll(/^#{1,6} +(.+?) *#*$/gm)].map(([, heading]) => {
    const anchor = anchorOf(heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1'));
    const count = seen.get(anchor) ?? 0;
    seen.set(anchor, count + 1);
    return count === 0 ? anchor : `${anchor}-${count}`;
  });
  return new Set(ofHeadings);
}

/** Relative links of a page: path from the root, anchor, and the place of each. */
export function linksOf(path, text) {
  if (!path.endsWith('.md')) return [];
  const prose = withoutFences(text).replace(/`[^`\n]*`/g, blank);
  const links = [
    ...prose.matchAll(/\]\(([^)\s#]*)(?:#([^)\s]*))?\)/g),
    // A file, or a region of it, that the site shows.
    ...prose.matchAll(/^<<< ([^#{\s]+)()/gm),
  ];
  return links
    .filter(([, file]) => !/^[a-z]+:/.test(file))
    .map(({ 1: file, 2: anchor, index }) => ({
      link: file,
      target:
        file === '' ? path : posix.join(file.startsWith('/') ? '' : posix.dirname(path), file),
      anchor: anchor ?? '',
      line: lineOf(text, index),
    }));
}

/** All texts by path: links to files and headings that are not there. */
export function linkFaults(texts, exists) {
  return [...texts].flatMap(([path, text]) =>
    linksOf(path, text).flatMap(({ link, target, anchor, line }) => {
      if (!exists(target)) return [{ path, line, message: `link to ${link}, which is not there` }];
      const page = texts.get(target);
      if (anchor === '' || page === undefined || anchorsOf(page).has(anchor)) return [];
      return [{ path, line, message: `link to #${anchor}, no heading of ${target}` }];
    }),
  );
}

const CONTENTS = 'docs/README.md';

/** All texts by path: pages of docs that no chain of links from docs/README.md leads to. */
export function pagesApart(texts) {
  const reached = new Set([CONTENTS]);
  for (const page of reached) {
    for (const { target } of linksOf(page, texts.get(page) ?? '')) {
      if (target.startsWith('docs/') && texts.has(target)) reached.add(target);
    }
  }
  return [...texts.keys()]
    .filter((path) => /^docs\/.*\.md$/.test(path) && !reached.has(path))
    .map((path) => ({ path, line: 1, message: `no chain of links from ${CONTENTS} leads here` }));
}
