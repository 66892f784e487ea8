import { Injectable } from '@nestjs/common';
import type { TreeNames } from './api-types.js';
import { ConsoleParts } from './console-parts.js';
import { NodeNames } from './domain/node-names.js';

/** Items that are counted; of a larger catalogue the first. */
const ITEMS_MAX = 100_000;
/** Between two counts of a catalogue that changes all the time. */
const AGE_MS = 30_000;
/** Items between two turns of the event loop: recalls go on meanwhile. */
const TURN = 500;

/** What nodes of the first catalogue's tree are called, counted when somebody asks. */
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

  private async count(): Promise<Counted> {
    const { pages } = await this.parts.runtime.operations.changesOf('').listItems();
    const names = new NodeNames();
    let counted = 0;
    for (const page of pages) {
      for (const { sid, attributes } of page) {
        if (counted === ITEMS_MAX) return { names, isWhole: false };
        names.add({ sid, attributes: JSON.parse(attributes) as Record<string, unknown> });
        counted += 1;
        if (counted % TURN === 0) await new Promise<void>((resolve) => setImmediate(resolve));
      }
    }
    return { names, isWhole: true };
  }
}

interface Counted {
  readonly names: NodeNames;
  readonly isWhole: boolean;
}
