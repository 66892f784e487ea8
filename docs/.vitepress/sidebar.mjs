// The sidebar is the list of pages by reader, docs/README.md: a section is a heading, an entry a
// link of a list item.

import { posix } from 'node:path';
import { sitePath } from './pages.mjs';

export function sidebarOf(text) {
  return text
    .split(/^## /m)
    .slice(1)
    .map((section) => ({
      text: section.split('\n', 1)[0],
      collapsed: false,
      items: [...section.matchAll(/\[([^\]]+)\]\(([^)#]+\.md)\)/g)].map(([, name, path]) => ({
        text: name[0].toUpperCase() + name.slice(1),
        link: `/${sitePath(posix.join('docs', path))}`,
      })),
    }));
}
