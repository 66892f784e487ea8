import { join } from 'node:path';
import { repositoryRoot } from '@tessera/config';
import { AdapterClient } from '../../../tools/served/adapter-client.js';
import type { Watched } from './watched-service.js';

const FOLDER = join(repositoryRoot, 'models', 'demo', 'ranking');
const NAME = 'ranking';
const CALL_MS = 60_000;

interface Health {
  readonly versions: { readonly model: string };
}

interface Pushed {
  readonly version: { readonly digest: string };
}

/** Pushes the heads that `npm start` serves by itself: a folder of adapters of its own is empty. */
export async function serveDemoHeads({ grpcAddress, httpUrls }: Watched): Promise<void> {
  const health = (await (await fetch(`${httpUrls.at(-1)}/health`)).json()) as Health;
  const client = new AdapterClient(grpcAddress);
  try {
    const folder = { name: NAME, baseModel: health.versions.model };
    const { version } = await client.pushFolder<Pushed>(FOLDER, folder, CALL_MS);
    await client.call('Activate', { name: NAME, digest: version.digest, force: true }, CALL_MS);
  } finally {
    client.close();
  }
}
