import type { Config } from '@tessera/config';
import { FILE_SYSTEM } from '@tessera/files';
import type { Metrics } from '@tessera/telemetry';

/** Folders by their keys; those that are '' or not there yet have no disk. */
export type Folders = Readonly<Record<string, string>>;

/** The free bytes above the reserve of each folder's disk, at each scrape. */
export function watchDisks(folders: Folders, { disk }: Pick<Config, 'disk'>, metrics: Metrics) {
  const kept = Object.entries(folders).filter(([, folder]) => folder !== '');
  metrics.showDisks(async () => {
    const found = await Promise.all(
      kept.map(async ([key, folder]) => {
        const free = await FILE_SYSTEM.freeBytes(folder).catch(() => undefined);
        return free === undefined ? [] : [{ key, spareBytes: free - disk.reserveBytes }];
      }),
    );
    return found.flat();
  });
}
