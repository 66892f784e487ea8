import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

const outDir = fileURLToPath(new URL('../../../build/console', import.meta.url));
const COMPRESSED = /\.(js|css|html|svg)$/;

/** Writes each file's compressed forms beside it, so that serving it costs no work. */
function compressed(): Plugin {
  return {
    name: 'compressed',
    apply: 'build',
    closeBundle() {
      for (const name of readdirSync(outDir, { recursive: true, encoding: 'utf8' })) {
        if (!COMPRESSED.test(name)) continue;
        const bytes = readFileSync(join(outDir, name));
        writeFileSync(join(outDir, `${name}.gz`), gzipSync(bytes, { level: 9 }));
        writeFileSync(join(outDir, `${name}.br`), brotliCompressSync(bytes));
      }
    },
  };
}

/**
 * Files of the OpenAPI page. They are shipped, the package is not: it brings another one whose
 * install script reports where it is installed.
 */
const SWAGGER_UI = [
  ...['index.html', 'index.css', 'swagger-ui.css', 'favicon-16x16.png', 'favicon-32x32.png'],
  ...['swagger-ui-bundle.js', 'swagger-ui-bundle.js.LICENSE.txt', 'LICENSE', 'NOTICE'],
  ...['swagger-ui-standalone-preset.js', 'swagger-ui-standalone-preset.js.LICENSE.txt'],
];

function swaggerUi(): Plugin {
  return {
    name: 'swagger-ui',
    apply: 'build',
    closeBundle() {
      const from = fileURLToPath(new URL('../../../node_modules/swagger-ui-dist', import.meta.url));
      const to = fileURLToPath(new URL('../../../build/swagger-ui', import.meta.url));
      mkdirSync(to, { recursive: true });
      for (const name of SWAGGER_UI) cpSync(join(from, name), join(to, name));
    },
  };
}

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: './',
  plugins: [react(), compressed(), swaggerUi()],
  build: { outDir, emptyOutDir: true, target: 'es2022', reportCompressedSize: false },
});
