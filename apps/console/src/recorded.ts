import { Injectable } from '@nestjs/common';
import { itemsAsOf } from '@tessera/analysis';
import { TesseraError } from '@tessera/errors';
import type { InspectionStore, RecordedRecall } from '@tessera/inspection';
import type { DescribedItem, RecallVersions } from '@tessera/recall';
import type { RecallPage } from './api-types.js';
import { ConsoleParts } from './console-parts.js';

function changedSince(
  then: Readonly<Record<string, DescribedItem>>,
  now: Readonly<Record<string, DescribedItem>>,
): string[] {
  return Object.values(then)
    .filter(({ itemId, title, attributes }) => {
      const today = now[itemId];
      return today?.title !== title || today.attributes !== attributes;
    })
    .map(({ itemId }) => itemId);
}

/** Recorded recalls, with what the catalogue of now says of their items. */
@Injectable()
export class Recorded {
  constructor(private readonly parts: ConsoleParts) {}

  /** @throws TesseraError STORE_UNAVAILABLE where nothing is recorded */
  get store(): InspectionStore {
    const { store } = this.parts;
    if (store !== undefined) return store;
    const message =
      'inspection: expected a store of recorded recalls, got none; set inspection.path, ' +
      'and see the log of the start';
    throw new TesseraError('STORE_UNAVAILABLE', message, { field: 'inspection.path' });
  }

  /** @throws TesseraError ROUTE_NOT_FOUND where there is none of the ID */
  async recall(id: string): Promise<RecordedRecall> {
    const recall = await this.store.recall(id);
    if (recall !== undefined) return recall;
    const message = `recall: expected the ID of one that is kept, got '${id.slice(0, 80)}'`;
    throw new TesseraError('ROUTE_NOT_FOUND', message, { field: 'recall' });
  }

  /** @param node the name of this one; '': there is no cluster */
  async page(id: string, node: string): Promise<RecallPage> {
    const recall = await this.recall(id);
    const { answer, request } = recall;
    const ids = [
      ...(answer?.items.map(({ itemId }) => itemId) ?? []),
      ...(answer?.history.map(({ itemId }) => itemId) ?? []),
    ];
    const now = this.describe(ids, request.catalogue);
    const then = answer && (await this.asOf(ids, request.catalogue ?? '', answer.versions));
    return {
      node,
      isHere: true,
      recall,
      // Facts may not reach back to all of them.
      described: Object.assign({}, now, then),
      describedAt: then === undefined ? null : (answer?.versions.catalogueSequence ?? null),
      changedSince: then === undefined ? [] : changedSince(then, now),
      notes: await this.store.shelf.notes(id),
      goneVersions: answer === undefined ? [] : this.goneOf(answer.versions),
    };
  }

  describe(itemIds: readonly string[], catalogue?: string): Record<string, DescribedItem> {
    const unique = [...new Set(itemIds)];
    const found = this.parts.runtime.facts.describe(unique, catalogue);
    return Object.fromEntries(
      found.flatMap((item) => (item === undefined ? [] : [[item.itemId, item]])),
    );
  }

  /** Items as the recall saw them; undefined where no facts say it. */
  private async asOf(
    itemIds: readonly string[],
    catalogue: string,
    { catalogueSequence: sequence }: RecallVersions,
  ): Promise<Record<string, DescribedItem> | undefined> {
    const { analysis, log } = this.parts;
    if (analysis === undefined) return undefined;
    try {
      await analysis.refresh();
      const unique = [...new Set(itemIds)];
      const found = await itemsAsOf(analysis.asking, { itemIds: unique, catalogue, sequence });
      if (found.length === 0) return undefined;
      return Object.fromEntries(
        found.map(({ itemId, title, attributes, sid }) => [
          itemId,
          { itemId, title, attributes, sid: sid.split('-').filter(Boolean).map(Number) },
        ]),
      );
    } catch (thrown) {
      log.warn({ err: thrown }, 'items of a recorded recall are shown as they are today');
      return undefined;
    }
  }

  private goneOf(versions: RecallVersions): string[] {
    const { model, catalogue } = this.parts.runtime.facts.summary;
    return [
      ...(versions.model === model.digest ? [] : ['model']),
      ...(versions.catalogue === catalogue.digest ? [] : ['catalogue']),
    ];
  }
}
