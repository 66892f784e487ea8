import type { CatalogueChanges } from '@tessera/catalogue';

/** The catalogues that are served, by the names that requests choose them by. */
export class ServedCatalogues {
  /** @param of '' for the first; throws REQUEST_INVALID where there is none of the name */
  constructor(readonly of: (name: string) => CatalogueChanges) {}
}
