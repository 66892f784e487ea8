import { rm } from 'node:fs/promises';
import { DEFAULT_ADAPTER, repairRegistry } from '@tessera/adapter';
import { loadConfig } from '@tessera/config';
import { repairChanges, repairStore } from '@tessera/engine';
import { errorOfSystem, FILE_SYSTEM } from '@tessera/files';
import {
  closeFilesToOthers,
  isRepairCutOff,
  refuseCutOff,
  repairedStore,
} from '@tessera/lifecycle';
import { type ConfiguredStore, configuredStores, STORE_KINDS } from './stores/configured-stores.js';
import { Flags, print, runCommand } from './terminal/command.js';

const USAGE = `usage: npm run repair -- [--only STORES] [--apply]

Looks through the stores of the configuration, of a service that is stopped, and says what is
damaged and what would be lost (docs/operate/repair.md). Exit status 3: something is damaged.
  --only STORES         some of behaviours, catalogue-changes, adapters
  --apply               make damaged stores anew of what can be read; the old files stay aside
  --name NAME           name for versions of adapters without a registry (default: main)
  --base-model DIGEST   that they were made for`;

const EXIT_FAILED = 1;
const EXIT_DAMAGED = 3;
const REPAIRABLE = STORE_KINDS.filter((kind) => kind !== 'weights');

interface Found {
  readonly isDamaged: boolean;
  /** Nothing can be done: a service has it, a newer release wrote it, no log of it is readable. */
  readonly isRefused?: boolean;
  readonly text: string;
}

/** A store that cannot be repaired keeps no other from being looked at. */
function refused(thrown: unknown): Found {
  const { code, message } = errorOfSystem(thrown);
  if (code === 'INTERNAL') throw thrown;
  return { isDamaged: code.endsWith('_CORRUPT'), isRefused: true, text: `${code}: ${message}` };
}

async function repaired(store: ConfiguredStore, flags: Flags): Promise<Found> {
  const apply = flags.has('apply');
  const { kind, folder } = store;
  if (kind === 'adapters') {
    const name = flags.text('name') ?? DEFAULT_ADAPTER;
    const baseModel = flags.text('base-model') ?? '';
    const found = await repairRegistry({ folder, name, baseModel, apply });
    const { damage, whole, damaged } = found;
    const text =
      `${damage}\n  ${whole.length} versions are whole and ${apply ? 'are' : 'would be'} listed ` +
      `as received under the name ${name}; ${damaged.length} are not and stay where they are`;
    return { isDamaged: damage !== '', text };
  }
  const repair = kind === 'behaviours' ? repairStore : repairChanges;
  const { damage, acknowledged, readable, isGathered, keysLeft, aside } = await repair(
    folder,
    apply,
  );
  const what = kind === 'behaviours' ? 'writes' : 'changes';
  const lost = isGathered
    ? `which ${what} are lost is not known, and users who were erased may be there again: erase ` +
      `them once more; ${keysLeft} keys are left`
    : `${what} 1 to ${readable} of at least ${acknowledged} can be read: ` +
      `${Math.max(0, acknowledged - readable)} are lost`;
  const done = aside === '' ? '  nothing was changed' : `  done; what was there lies in ${aside}`;
  return { isDamaged: damage !== '', text: `${damage}\n  ${lost}\n${done}` };
}

/** The last step of a repair that had made a store, and moved the damaged one aside. */
async function finish(folder: string): Promise<void> {
  if (!(await isRepairCutOff(folder))) return;
  await rm(folder, { recursive: true, force: true });
  await FILE_SYSTEM.rename(repairedStore(folder), folder);
  const aside = `what was there lies in ${folder}.cut-SECONDS`;
  await print(`behaviours in ${folder}: the repair that was cut off is done; ${aside}`);
}

await runCommand(USAGE, async (words) => {
  closeFilesToOthers();
  const flags = Flags.parse(words, {
    only: 'text',
    apply: 'switch',
    name: 'text',
    'base-model': 'text',
  });
  const wanted = flags.someOf('only', REPAIRABLE, REPAIRABLE);
  const { config } = loadConfig();
  const { store: kept, path } = config.behaviours;
  if (flags.has('apply') && kept === 'embedded' && wanted.includes('behaviours')) {
    await finish(path);
  }
  await refuseCutOff(config);
  const found: Found[] = [];
  for (const store of await configuredStores(config)) {
    if (!(wanted as readonly string[]).includes(store.kind)) continue;
    const one = await repaired(store, flags).catch(refused);
    found.push(one);
    const isWhole = !one.isDamaged && one.isRefused !== true;
    await print(`${store.name} in ${store.folder}: ${isWhole ? 'whole' : one.text}`);
  }
  if (found.some(({ isDamaged }) => isDamaged) && !flags.has('apply')) {
    process.exitCode = EXIT_DAMAGED;
  } else if (found.some(({ isRefused }) => isRefused)) process.exitCode = EXIT_FAILED;
});
