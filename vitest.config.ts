import { globSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import swc from 'unplugin-swc';
import { defineConfig } from 'vitest/config';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

/** Folders of the libs: a district is a folder of libs. */
const libs = () => globSync(path('./libs/{*,*/*}/src')).map((src) => join(src, '..'));

const SYSTEM = '**/*.system.spec.ts';

export default defineConfig({
  resolve: {
    alias: [
      { find: '@tessera/native', replacement: path('./native/ts/index.ts') },
      ...libs().map((folder) => ({
        find: `@tessera/${basename(folder)}`,
        replacement: join(folder, 'src/index.ts'),
      })),
    ],
  },
  plugins: [
    swc.vite({
      swcrc: false,
      module: { type: 'es6' },
      jsc: {
        target: 'es2022',
        keepClassNames: true,
        parser: { syntax: 'typescript', decorators: true },
        transform: {
          legacyDecorator: true,
          decoratorMetadata: true,
          verbatimModuleSyntax: true,
        },
      },
    }),
  ],
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'parts',
          include: [
            '{apps,tools,bench}/**/*.spec.ts',
            'libs/!(engine|service)/**/*.spec.ts',
            'libs/service/!(catalogue|relevance|embedding)/**/*.spec.ts',
            'native/ts/**/*.spec.ts',
            'test/!(integration|e2e|lifecycle|folders)/**/*.spec.ts',
          ],
          exclude: [SYSTEM],
          // A worker reads each module once, not once a file.
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'edges',
          include: ['test/integration/**/*.spec.ts'],
          setupFiles: ['./test/integration/openapi-fetch.ts'],
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          // The addon's lanes are a process's: what a file leaves running is in the next one's way.
          name: 'engines',
          include: [
            'test/{e2e,lifecycle,folders}/**/*.spec.ts',
            'libs/{engine,service/catalogue,service/relevance,service/embedding}/**/*.spec.ts',
          ],
          exclude: [SYSTEM],
        },
      },
      {
        extends: true,
        // Browsers, brokers, clusters, checkers of deployments, clients: `npm run test:system`.
        test: { name: 'system', include: [`{apps,libs,tools,bench,test}/${SYSTEM}`] },
      },
    ],
    // Two cores: more workers only fight for them.
    maxWorkers: 2,
    // Generous: a machine that does other work too is slow, not wrong.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
