import { readdirSync, rmSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { loadConfig } from '@tessera/config';
import { expecting, TesseraError } from '@tessera/errors';
import { closeFilesToOthers, refuseCutOff } from '@tessera/lifecycle';
import { BACKUP_LIST } from './stores/backup-list.js';
import { type BackedFile, copyStore } from './stores/backup-store.js';
import { configuredStores, namesIn } from './stores/configured-stores.js';
import { Flags, print, runCommand } from './terminal/command.js';

const USAGE = `usage: npm run backup -- --to DIR

Copies behaviours, changes of the catalogue, versions of adapters and which weights serve into an
empty folder, also while the service runs (docs/operate/backup.md).`;

await runCommand(USAGE, async (words) => {
  closeFilesToOthers();
  const to = Flags.parse(words, { to: 'text' }).required('to');
  if ((await namesIn(to)).length > 0) {
    throw new TesseraError('CONFIG_INVALID', `--to ${to}: expected a folder that is empty`);
  }
  const { config } = loadConfig();
  await refuseCutOff(config);
  const stores = await configuredStores(config);
  if (stores.length === 0) {
    throw expecting('STORE_INVALID')(
      'behaviours.path',
      'a store that holds something, here or in the other folders of the configuration ' +
        '(TESSERA_MODEL_PATH as the service has it, or the folders)',
      config.behaviours.path,
    );
  }
  await mkdir(to, { recursive: true });
  let isWhole = false;
  // A half backup would keep the same command from running again.
  process.on('exit', () => {
    if (!isWhole) for (const name of readdirSync(to)) rmSync(join(to, name), { recursive: true });
  });
  const files: BackedFile[] = [];
  const lines: string[] = [];
  for (const store of stores) {
    const copied = await copyStore(store, to);
    files.push(...copied);
    const bytes = copied.reduce((sum, file) => sum + file.bytes, 0);
    lines.push(`${store.name} of ${store.folder}: ${copied.length} files, ${bytes} bytes`);
  }
  const names = stores.map(({ kind, name }) => ({ kind, name }));
  const list = { format: 1, madeAt: new Date().toISOString(), stores: names, files };
  // Last: a backup without it was broken off.
  await writeFile(join(to, BACKUP_LIST), `${JSON.stringify(list, null, 1)}\n`, { flush: true });
  isWhole = true;
  await print(lines.join('\n'));
});
