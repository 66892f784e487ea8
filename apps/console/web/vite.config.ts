import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

const outDir = fileURLToPath(new URL('../../../build/console', import.meta.url));
const COMPRESSED = /\.(js|css|html|svg)$/;

/** Beside each file its compressed forms, so that serving it costs no work. */
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

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: './',
  plugins: [react(), compressed()],
  build: { outDir, emptyOutDir: true, target: 'es2022', reportCompressedSize: false },
});
