// Pages of the site and links between them. Markdown of the repository is written for code hosts:
// links are relative to the file. The site has docs/ at its root, and some pages from elsewhere.
import { existsSync } from 'node:fs';
import { posix, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FROM_ELSEWHERE = [
  ...['README.md', 'ARCHITECTURE.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'STYLE.md'],
  ...['clients/README.md', 'clients/go/README.md', 'clients/java/README.md'],
  ...['clients/python/README.md', 'deploy/chart/README.md', 'examples/README.md'],
  ...['bench/README.md', 'trainer/README.md'],
];
/** READMEs that would share an address with another page, or that a folder opens with. */
const RENAMED = {
  'README.md': 'repository.md',
  'docs/README.md': 'pages.md',
  'docs/decisions/README.md': 'decisions/index.md',
};

/** True where the site has a file of the repository as a page. */
export const isPage = (path) =>
  FROM_ELSEWHERE.includes(path) || (path.startsWith('docs/') && path.endsWith('.md'));

/** The path of a page in the site. */
export const sitePath = (path) => RENAMED[path] ?? path.replace(/^docs\//, '');

/** Address in the site of a link to a page; undefined for a file that is no page. */
function addressOf(page, link) {
  const [path, anchor] = link.split('#');
  const target = posix.join(posix.dirname(page), path).replace(/\/$/, '');
  if (!existsSync(resolve(ROOT, target))) throw new Error(`${page}: ${target} is not there`);
  const found = [target, `${target}/README.md`].find(isPage);
  if (found === undefined) return undefined;
  return `/${sitePath(found)}${anchor === undefined ? '' : `#${anchor}`}`;
}

/** Makes links those of the site; a link to a file that it does not have becomes text. */
function resolveLinksOf(page, tokens) {
  let isDropped = false;
  for (const token of tokens) {
    if (token.type === 'link_open') {
      const link = token.attrGet('href');
      const address = /^([a-z]+:|#|\/)/.test(link) ? link : addressOf(page, link);
      isDropped = address === undefined;
      token.attrSet('href', address ?? '');
    }
    if (isDropped && token.type.startsWith('link_')) {
      token.type = 'text';
      token.content = '';
    }
  }
}

/** A plug-in of markdown-it, before VitePress renders links. */
export function resolveLinks(md) {
  md.core.ruler.push('links_of_the_repository', ({ env, tokens }) => {
    const page = relative(ROOT, env.realPath ?? env.path);
    for (const { children } of tokens) resolveLinksOf(page, children ?? []);
  });
}
