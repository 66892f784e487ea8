import { parseRetention } from '@tessera/behaviour';
import { type ProgressListener, parseCatalogueSpecs } from '@tessera/catalogue';
import type { Config } from '@tessera/config';
import type { TesseraError } from '@tessera/errors';
import type { RecallRuntimeOptions } from '@tessera/recall';

/** The slice of the configuration that the recall service is composed from. */
export function runtimeOptions(
  config: Config,
  onProgress: ProgressListener,
  onCompacted: (error: TesseraError | undefined) => void,
): RecallRuntimeOptions {
  const { defaultWidths, defaultResultCount, itemsPerSid, scoreNorm } = config.recall;
  const { historyItemsMax, historyTrimPercent } = config.recall;
  return {
    modelPath: config.model.path,
    computeType: config.model.computeType,
    activationScalesPath: config.model.activationScalesPath,
    catalogueSources: [{ path: config.catalogue.path, domain: config.catalogue.domain }],
    titlesPath: config.catalogue.titlesPath,
    behaviours: {
      ...config.behaviours,
      retention: parseRetention(config.behaviours.retention),
      usersPath: config.users.path,
    },
    toleratedRows: config.catalogue.toleratedRows,
    cacheDir: config.catalogue.cachePath,
    changes: {
      folder: config.catalogue.changesPath,
      sync: config.catalogue.changesSync,
      levelSizes: config.catalogue.levelSizes,
      compactAfterItems: config.catalogue.compactAfterItems,
      onCompacted,
    },
    moreCatalogues: parseCatalogueSpecs(config.catalogue.more),
    engine: config.engine,
    kv: config.kv,
    recall: {
      widths: defaultWidths,
      resultCount: defaultResultCount,
      itemsPerSid,
      scoreNorm,
      historyItemsMax,
      historyTrimPercent,
    },
    onProgress,
  };
}
