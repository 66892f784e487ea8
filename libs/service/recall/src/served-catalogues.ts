import type { CatalogueChanges } from '@tessera/catalogue';
import type { Catalogue } from '@tessera/engine';
import { TesseraError } from '@tessera/errors';
import type { UseCases } from './domain/tasks/use-cases.js';

/** A catalogue, and what answers the requests for it. */
export interface ServedCatalogue {
  readonly name: string;
  readonly useCases: UseCases;
  readonly changes: CatalogueChanges;
  readonly catalogue: Catalogue;
}

/** Catalogues by the names that requests choose them by; '' is the first. */
export class ServedCatalogues {
  constructor(readonly all: readonly ServedCatalogue[]) {}

  /** @throws TesseraError REQUEST_INVALID where there is none of the name */
  of(name = ''): ServedCatalogue {
    const named = this.all.find((one) => one.name === name);
    if (named !== undefined) return named;
    const names = this.all.map((one) => `'${one.name}'`).join(', ');
    const message = `catalogue: expected one of ${names}, got '${name.slice(0, 80)}'`;
    throw new TesseraError('REQUEST_INVALID', message, { field: 'catalogue' });
  }
}
