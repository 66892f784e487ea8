import {
  type AppliedImport,
  type BundleStep,
  type CatalogueChanges,
  ChangeBatch,
} from '@tessera/catalogue';
import type { Submission, WireApplyBatchRequest } from '@tessera/contracts';
import { expecting } from '@tessera/errors';
import { parseWireChanges } from '../wire/catalogue.mapper.js';

const invalid = expecting('CATALOGUE_INVALID');

/** The messages of ApplyBatch as they come in. */
export class CollectedBatch {
  private readonly batch = new ChangeBatch();
  private name: string | undefined;
  private bundle: BundleStep | null | undefined;
  /** True if the message that says so was the last. */
  isWhole = false;

  get catalogue(): string {
    return this.name ?? '';
  }

  /** @throws TesseraError REQUEST_INVALID, CATALOGUE_INVALID with the field */
  add(message: WireApplyBatchRequest): this {
    const { changes, bundle, catalogue, last } = message;
    if (this.isWhole) throw invalid('last', 'the end of the stream behind it', 'a message');
    this.name ??= catalogue;
    if (catalogue !== this.name)
      throw invalid('catalogue', `'${this.name}' as before`, `'${catalogue}'`);
    if (bundle && this.bundle) throw invalid('bundle', 'one step in a batch', 'another');
    this.bundle ??= bundle;
    this.batch.add(parseWireChanges(changes, this.batch.changeCount));
    this.isWhole = last;
    return this;
  }

  /**
   * All or none; nothing where the client went away before the last message.
   * @param of the catalogue of a name
   */
  apply(
    of: (name: string) => CatalogueChanges,
    source: string,
    how: Submission,
  ): Promise<AppliedImport> {
    if (!this.isWhole) throw invalid('last', 'a last message', 'the end of the stream');
    const catalogue = of(this.catalogue);
    // Left out, it comes as null.
    return this.bundle
      ? catalogue.applyBundle(this.batch, this.bundle, source, how)
      : catalogue.applyBatch(this.batch, source, how);
  }
}
