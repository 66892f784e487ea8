// The documentation as a static site in build/docs: `npm run docs`. Nothing of it is fetched from
// elsewhere, neither while it is built nor while it is read.
import { readFileSync } from 'node:fs';
import { anchorOf } from '../../tools/tidy-links.mjs';
import { isPage, resolveLinks, sitePath } from './pages.mjs';
import { sidebarOf } from './sidebar.mjs';

const read = (name) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
const { version } = JSON.parse(read('package.json'));

/** Folders without pages, left out of the walk. */
const WITHOUT_PAGES = ['apps', 'build', 'data', 'dist', 'libs', 'models', 'native', 'test', '.*'];

export default {
  title: 'Tessera',
  description: 'Generative recommendation retrieval: which ads for this user, now?',
  srcDir: '..',
  srcExclude: [...WITHOUT_PAGES.map((folder) => `${folder}/**`), 'bench/peers/**', '**/target/**'],
  outDir: '../build/docs',
  rewrites: sitePath,
  // Pictures follow the reader's system as well.
  appearance: 'force-auto',
  transformPageData(page, { siteConfig }) {
    const path = siteConfig.rewrites.inv[page.relativePath] ?? page.relativePath;
    if (!isPage(path)) throw new Error(`${path}: not in the list of pages.mjs`);
  },
  markdown: {
    anchor: { slugify: anchorOf },
    theme: { light: 'github-light', dark: 'github-dark' },
    config: resolveLinks,
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Tour', link: '/start/tour' },
      { text: 'Pages', link: '/pages' },
      { text: 'Figures', link: '/measured' },
      { text: version, items: [{ text: 'Changes', link: '/CHANGELOG' }] },
    ],
    sidebar: sidebarOf(read('docs/README.md')),
  },
};
