/** A file that items come from: a snapshot, or one of the importable formats. */
export interface CatalogueSource {
  readonly path: string;
  /** Domain given to all items of the file; '' for none. */
  readonly domain: string;
}

/** Told of long work: `done` of `total` units of the stage. */
export type ProgressListener = (stage: string, done: number, total: number) => void;

const DOMAIN_SUFFIX = '#domain=';

/** Reads `path` or `path#domain=ad`. */
export function parseSource(text: string): CatalogueSource {
  const at = text.lastIndexOf(DOMAIN_SUFFIX);
  if (at < 0) return { path: text, domain: '' };
  return { path: text.slice(0, at), domain: text.slice(at + DOMAIN_SUFFIX.length) };
}
