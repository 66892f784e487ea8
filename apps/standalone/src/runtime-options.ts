import type { ProgressListener } from '@tessera/catalogue';
import type { Config } from '@tessera/config';
import type { RecallRuntimeOptions } from '@tessera/recall';

/** The slice of the configuration that the recall service is composed from. */
export function runtimeOptions(config: Config, onProgress: ProgressListener): RecallRuntimeOptions {
  const { defaultWidths, defaultResultCount, itemsPerSid, scoreNorm, historyItemsMax } =
    config.recall;
  return {
    modelPath: config.model.path,
    computeType: config.model.computeType,
    activationScalesPath: config.model.activationScalesPath,
    catalogueSources: [{ path: config.catalogue.path, domain: config.catalogue.domain }],
    titlesPath: config.catalogue.titlesPath,
    usersPath: config.users.path,
    cacheDir: config.catalogue.cachePath,
    engine: config.engine,
    recall: {
      widths: defaultWidths,
      resultCount: defaultResultCount,
      itemsPerSid,
      scoreNorm,
      historyItemsMax,
    },
    onProgress,
  };
}
