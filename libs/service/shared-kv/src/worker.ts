/** Program of a store's thread: answers the engine's calls of one link, away from Node's thread. */

import { parentPort, workerData } from 'node:worker_threads';
import { openStoreLink as openEngineLink } from '@tessera/engine';
import { serveStoreLink } from './domain/serve-store-link.js';
import type { StoreLink } from './domain/store-link.js';
import { guarded } from './guarded-store.js';
import { openStore } from './open-store.js';
import type { StoreOrder, StoreReport, StoreThreadData } from './store-messages.js';

const REPORT_EVERY_MS = 1000;
const NOBODY = { owner: '0'.repeat(32), version: '0'.repeat(32) };

interface LinkModule {
  openStoreLink(data: unknown): StoreLink;
}

const { field, store, guard, serve, link: source }: StoreThreadData = workerData;
const { openStoreLink } =
  source.module === undefined
    ? ({ openStoreLink: openEngineLink } as LinkModule)
    : ((await import(source.module)) as LinkModule);
const kept = guarded(openStore(field, store), guard);
const link = openStoreLink(source.data);
const served = serveStoreLink(link, kept, serve);

function report(): void {
  const metrics = { ...kept.readCounts(), isOpen: kept.isOpen(), reason: kept.reason() };
  parentPort?.postMessage({ metrics } satisfies StoreReport);
}

const reporting = setInterval(report, REPORT_EVERY_MS);
kept.onChange((isOpen) => {
  link.setAvailable(!isOpen);
  report();
});
// The first find of a user should not wait for the connection.
kept.find(NOBODY).catch(() => undefined);
link.setAvailable(true);

async function close(): Promise<void> {
  clearInterval(reporting);
  served.close();
  await kept.close();
  await served.ended();
  link.close();
  report();
  parentPort?.close();
}

parentPort?.on('message', (order: StoreOrder) => {
  if (order === 'close') void close();
  else served.setErasedUntil(order.erasedUntil);
});
