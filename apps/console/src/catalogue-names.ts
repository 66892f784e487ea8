import { Injectable } from '@nestjs/common';
import type { DescribedItem, ItemPlace, TreeNames } from './api-types.js';
import { ConsoleParts } from './console-parts.js';
import { Nearest } from './domain/nearest.js';
import { NodeNames } from './domain/node-names.js';

/** Items that are counted; of a larger catalogue the first. */
const ITEMS_MAX = 100_000;
const NEIGHBOURS = 12;
/** Between two counts of a catalogue that changes all the time. */
const AGE_MS = 30_000;
/** Items between two turns of the event loop: recalls go on meanwhile. */
const TURN = 500;

/** Names of the nodes of the first catalogue's tree, counted when somebody asks. */
@Injectable()
export class CatalogueNames {
  private counted: { readonly atMs: number; readonly names: Promise<Counted> } | undefined;

  constructor(private readonly parts: ConsoleParts) {}

  /** @param by an attribute; '': the one that tells most */
  async of(by: string): Promise<TreeNames> {
    const now = this.parts.nowMs();
    if (this.counted === undefined || now - this.counted.atMs > AGE_MS) {
      const names = this.count();
      this.counted = { atMs: now, names };
      names.catch(() => {
        this.counted = undefined;
      });
    }
    const { names, isWhole } = await this.counted.names;
    return Object.assign(names.names(by), { isWhole });
  }

  /** Place of an item in the tree, and the items beside it. Null: there is no such item. */
  async place(itemId: string): Promise<ItemPlace | null> {
    const [item] = this.parts.runtime.facts.describe([itemId]);
    if (item === undefined) return null;
    const nearest = new Nearest(item, NEIGHBOURS);
    const isWhole = await this.each((one) => nearest.add(one));
    return Object.assign({}, item, { neighbours: nearest.found(), isWhole });
  }

  private async count(): Promise<Counted> {
    const names = new NodeNames();
    const isWhole = await this.each(({ sid, attributes }) => {
      names.add({ sid, attributes: JSON.parse(attributes) as Record<string, unknown> });
    });
    return { names, isWhole };
  }

  /** False: there are more items than are looked at. */
  private async each(look: (item: DescribedItem) => void): Promise<boolean> {
    const { pages } = await this.parts.runtime.operations.changesOf('').listItems();
    let counted = 0;
    for (const page of pages) {
      for (const item of page) {
        if (counted === ITEMS_MAX) return false;
        look(item);
        counted += 1;
        if (counted % TURN === 0) await new Promise<void>((resolve) => setImmediate(resolve));
      }
    }
    return true;
  }
}

interface Counted {
  readonly names: NodeNames;
  readonly isWhole: boolean;
}
