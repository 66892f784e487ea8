import type { Adapters, ServedWeights } from '@tessera/adapter';
import {
  type BehaviourStore,
  type OpenBehaviours,
  Popularity,
  rebuildPopularity,
} from '@tessera/behaviour';
import type { CatalogueChanges } from '@tessera/catalogue';
import type { Catalogue, ChangingCatalogue, Engine } from '@tessera/engine';
import { CLOCK } from '@tessera/units';
import type { RecallDefaults } from './domain/context/recall-parts.js';
import type { DroppedCache } from './domain/runtime-types.js';

/** Parts that must be closed: the engine first, since its requests read the catalogue. */
export class Opened {
  /** Caches that were begun anew on the way. */
  readonly dropped: DroppedCache[] = [];
  private readonly changes: CatalogueChanges[] = [];
  private readonly catalogues: Catalogue[] = [];
  private behaviours: OpenBehaviours | undefined;
  private engine: Engine | undefined;
  private adapters: Adapters | undefined;
  private weights: ServedWeights | undefined;
  private counting: Promise<boolean> | undefined;
  private closing: Promise<void> | undefined;

  keepBehaviours(behaviours: OpenBehaviours): OpenBehaviours {
    this.behaviours = behaviours;
    return behaviours;
  }

  keepChanges(changes: CatalogueChanges): CatalogueChanges {
    this.changes.push(changes);
    return changes;
  }

  keepCatalogue(catalogue: ChangingCatalogue): ChangingCatalogue {
    this.catalogues.push(catalogue);
    return catalogue;
  }

  keepEngine(engine: Engine): Engine {
    this.engine = engine;
    return engine;
  }

  keepWeights(weights: ServedWeights): ServedWeights {
    this.weights = weights;
    return weights;
  }

  keepAdapters(adapters: Adapters): Adapters {
    this.adapters = adapters;
    return adapters;
  }

  /** Counts the clicks of a store in the background, where users are answered by that. */
  keepPopularity(
    { withoutHistory, isClick = () => true }: RecallDefaults,
    store: BehaviourStore,
  ): Popularity | undefined {
    if (withoutHistory !== 'popular') return undefined;
    const popularity = new Popularity(CLOCK.earliestMs);
    const isWanted = () => this.closing === undefined;
    this.counting = rebuildPopularity(store, popularity, isClick, isWanted);
    return popularity;
  }

  close(): Promise<void> {
    this.closing ??= this.closeOnce();
    return this.closing;
  }

  private async closeOnce(): Promise<void> {
    await this.engine?.close();
    await this.adapters?.close();
    await this.weights?.close();
    for (const changes of this.changes) await changes.settled();
    for (const catalogue of this.catalogues) catalogue.close();
    await this.counting;
    await this.behaviours?.close();
  }
}
