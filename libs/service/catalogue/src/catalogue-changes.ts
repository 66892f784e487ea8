import type { Submission } from '@tessera/contracts';
import {
  type AppliedChanges,
  type CatalogueDigest,
  type CatalogueGeneration,
  type CatalogueState,
  type ChangingCatalogue,
  EVERY_ITEM,
  type FlightAttributes,
  type ListedItem,
} from '@tessera/engine';
import { TesseraError } from '@tessera/errors';
import type { AppliedBatch } from './domain/applied-batch.js';
import type { CatalogueChange } from './domain/change.js';
import { ChangeBatch } from './domain/change-batch.js';
import { changesBackTo, stepOf } from './domain/changes-back-to.js';
import type { ImportMark } from './domain/import-mark.js';
import { ItemStates } from './domain/item-states.js';
import { type Landing, neighboursOf } from './domain/landing.js';
import type {
  AppliedImport,
  BundleStep,
  ChangeOrder,
  ChangeRecord,
  OrderedChanges,
  RecordsAgain,
} from './domain/ordered-changes.js';
import {
  type SemanticIds,
  type VectorSource,
  vectorOf,
  withVectors,
} from './domain/semantic-ids.js';
import { WriteGate } from './domain/write-gate.js';
import type { BundleLabel } from './outside/bundle-label.js';
import { ImportMarks } from './outside/import-marks.js';

/**
 * Items of the snapshot per change that a compaction waits for. It costs a time per item, so that
 * this fixes which share of the time is spent on compactions at a rate of changes, whatever the
 * catalogue's size (docs/concepts/live-catalogue.md).
 */
const ITEMS_PER_CHANGE = 8;

/** Folder of changes, and what follows when they have become many. */
export interface ChangesSettings extends ChangesOptions {
  readonly sync: 'commit' | 'never';
  /** Codes per level that changes may use; empty: those of the catalogue. */
  readonly levelSizes: readonly number[];
  /** File that declares the attributes that there may be; left out or '': any. */
  readonly attributesPath?: string;
  /** Folder of codebooks that vectors become semantic IDs by; left out or '': none. */
  readonly codebooksPath?: string;
  /** File of the formulas by which items are valued; left out or '': none. */
  readonly valuationsPath?: string;
  /** Items are to be had in their flight alone; left out: whenever. */
  readonly flight?: FlightAttributes | undefined;
  /** The clock of flights; left out: the system's. */
  readonly nowMs?: () => number;
  /** Told what items have that the file does not declare. */
  readonly onUndeclared?: (catalogue: string, findings: readonly string[]) => void;
  /** Free bytes of the file system of the folder below which no change is taken; left out: 0. */
  readonly reserveBytes?: number;
}

export interface ChangesOptions {
  /** '' for nowhere: they end with the process. */
  readonly folder: string;
  /** Changes since the snapshot before a new one is made, at least; 0: never by itself. */
  readonly compactAfterChanges: number;
  /** Which bundle the items are those of; left out: of none, and that is not kept. */
  readonly bundle?: BundleLabel;
  /** How far imports are; left out: that is not kept. */
  readonly imports?: ImportMarks;
  /** Maker of semantic IDs from vectors and texts of changes; left out: they are refused. */
  readonly semanticIds?: SemanticIds | undefined;
  /** Milliseconds since 1970; left out: by the clock of the machine. */
  readonly nowMs?: () => number;
  /** Told how a compaction of its own accord ended; undefined: well. */
  readonly onCompacted: (error: TesseraError | undefined) => void;
}

export const CHANGES_NOT_KEPT: ChangesSettings = {
  folder: '',
  sync: 'never',
  levelSizes: [],
  compactAfterChanges: 0,
  onCompacted: () => undefined,
};

/** The changes of an open catalogue, and the compaction that follows when they have become many. */
export class CatalogueChanges {
  private compaction: Promise<unknown> | undefined;
  private tell: (applied: AppliedBatch) => void = () => undefined;
  /** Milliseconds since 1970 of the last change since it was opened; of the opening without one. */
  changedMs: number;
  /** Undefined: changes are applied as they come. */
  private order: ChangeOrder | undefined;
  private readonly gate = new WriteGate();
  private readonly imports: ImportMarks;
  readonly items: ItemStates;

  constructor(
    private readonly catalogue: ChangingCatalogue,
    private readonly options: ChangesOptions,
  ) {
    this.imports = options.imports ?? ImportMarks.unkept();
    this.changedMs = this.nowMs();
    this.items = new ItemStates(catalogue);
  }

  /** Gives applied batches to the listener, in place of the listener before. */
  follow(tell: (applied: AppliedBatch) => void): void {
    this.tell = tell;
  }

  /** Gives the ordering of changes to a caller, which gives them to perform() in its order. */
  orderBy(order: ChangeOrder): void {
    this.order = order;
  }

  /**
   * All or none; resolves with what they came to when they are kept and visible.
   * @param source through which edge, or from whom; '' where that is not known
   * @throws TesseraError CATALOGUE_INVALID or ITEM_NOT_FOUND with the field, STORE_FULL or
   * STORE_UNAVAILABLE
   */
  apply(
    changes: readonly CatalogueChange[],
    source = '',
    how: Submission = {},
  ): Promise<AppliedImport> {
    return this.applyBatch(ChangeBatch.of(changes), source, how);
  }

  /**
   * Applies changes after which the items are those of a bundle.
   * @throws TesseraError CATALOGUE_INVALID also where they are not those of the bundle it follows
   */
  applyBundle(
    batch: ChangeBatch,
    bundle: BundleStep,
    source = '',
    how: Submission = {},
  ): Promise<AppliedImport> {
    return this.ordered(batch, { source, bundle }, how);
  }

  /** ID of the bundle that the items, with the changes since, come from; '' for none. */
  get bundleUuid(): string {
    return this.options.bundle?.uuid ?? '';
  }

  /** Digest of the snapshot that the sources make. */
  get seedDigest(): string {
    return this.catalogue.summary.digest;
  }

  /** Folder of the changes; '' for none. */
  get folder(): string {
    return this.options.folder;
  }

  get levelSizes(): readonly number[] {
    return this.catalogue.summary.levelSizes;
  }

  /** Every item of the newest version, some at a time. */
  async listItems(): Promise<{
    readonly sequence: number;
    readonly pages: Iterable<readonly ListedItem[]>;
  }> {
    const reach = await this.catalogue.reach(EVERY_ITEM);
    return { sequence: reach.sequence, pages: this.catalogue.listItems(reach) };
  }

  /** Applies changes that arrived in several messages. */
  applyBatch(batch: ChangeBatch, source = '', how: Submission = {}): Promise<AppliedImport> {
    return this.ordered(batch, { source }, how);
  }

  /** Records of a topic, no item of which is named twice; all or none. */
  applyRecords(
    records: readonly ChangeRecord[],
    source: string,
    { refusedAt, onEntry }: RecordsAgain = {},
  ): Promise<AppliedImport> {
    const batch = new ChangeBatch();
    for (const { changes } of records) batch.add(changes);
    const recordIds = records.map(({ id }) => id);
    return this.ordered(batch, { source, recordIds, refusedAt }, { onEntry });
  }

  /**
   * A batch of an import, which counts once, however often it is sent.
   * @throws TesseraError as apply()
   */
  applyImport(
    batch: ChangeBatch,
    importMark: ImportMark,
    source = '',
    how: Submission = {},
  ): Promise<AppliedImport> {
    return this.ordered(batch, { source, importMark }, how);
  }

  private async ordered(
    batch: ChangeBatch,
    more: Pick<OrderedChanges, 'source' | 'importMark' | 'bundle' | 'recordIds' | 'refusedAt'>,
    how: Submission,
  ): Promise<AppliedImport> {
    const { order } = this;
    const { key = '' } = how;
    // A log knows keys by itself; without one a key is that of an import of one batch.
    const keyed = order === undefined && key !== '' ? { name: key, position: 0 } : undefined;
    const importMark = more.importMark ?? keyed;
    if (importMark !== undefined && this.imports.has(importMark)) return this.nothingAgain();
    const messages = await withVectors(this.options.semanticIds, batch.messages);
    const changes = { messages, ops: batch.ops, told: batch.told, ...more, importMark };
    return order === undefined ? this.perform(changes) : order(changes, how);
  }

  /**
   * Applies what has its place in the order, here.
   * @param mark kept with it, in one commit; '': none
   * @throws TesseraError as apply()
   */
  async perform(ordered: OrderedChanges, mark = ''): Promise<AppliedImport> {
    const { messages, importMark, bundle, onto } = ordered;
    if (bundle !== undefined) this.checkFollows(bundle);
    if (onto !== undefined) this.checkOnto(onto);
    const apply = () => this.catalogue.apply(messages, mark);
    const applied = await this.written(importMark, bundle, apply);
    if (applied === undefined) return this.nothingAgain();
    return { ...this.reported(ordered, applied), alreadyApplied: false };
  }

  /** Keeps a mark alone. Rejects with STORE_FULL, STORE_UNAVAILABLE. */
  async note(mark: string): Promise<void> {
    await this.catalogue.apply([[]], mark);
  }

  /** Undefined: the batch has been applied before. */
  private written(
    mark: ImportMark | undefined,
    step: BundleStep | undefined,
    apply: () => Promise<AppliedChanges>,
  ): Promise<AppliedChanges | undefined> {
    const settled = async () => {
      await this.imports.settle();
      await this.options.bundle?.settle();
    };
    if (mark === undefined && step === undefined) {
      return this.gate.together(async () => {
        await settled();
        return apply();
      });
    }
    return this.gate.byItself(async () => {
      if (mark !== undefined && this.imports.has(mark)) return undefined;
      await settled();
      const { sequence } = this.catalogue.state();
      if (mark !== undefined) return this.imports.applying(mark, sequence, apply);
      const { becomes } = step as BundleStep;
      return this.options.bundle?.becoming(becomes, sequence, apply) ?? apply();
    });
  }

  private checkFollows({ follows }: BundleStep): void {
    if (follows === '' || follows === this.bundleUuid) return;
    const at = this.bundleUuid === '' ? 'of no bundle' : `those of bundle ${this.bundleUuid}`;
    const message = `bundle.follows: the items are ${at}, the delta follows ${follows}`;
    throw new TesseraError('CATALOGUE_INVALID', message, { field: 'bundle.follows' });
  }

  private checkOnto(onto: number): void {
    const { sequence } = this.catalogue.state();
    if (sequence === onto) return;
    const message = `sequence: expected version ${onto} still, got ${sequence}: ask again`;
    throw new TesseraError('CATALOGUE_INVALID', message, { field: 'sequence' });
  }

  private nothingAgain(): AppliedImport {
    const { sequence } = this.catalogue.state();
    const placed = { offsets: Uint32Array.of(0), codes: new Uint32Array() };
    const none = { matched: new Uint32Array(), paced: new Uint32Array(), unvalued: [] };
    return { ...none, sequence, changeCount: 0, placed, alreadyApplied: true };
  }

  /** Listeners hear of what was applied. */
  private reported(ordered: OrderedChanges, applied: AppliedChanges): AppliedChanges {
    const { sequence, changeCount } = applied;
    const { ops, told, messages, source } = ordered;
    if (changeCount > 0) {
      this.changedMs = this.nowMs();
      this.tell({ sequence, changeCount, ops, told, messages, source });
    }
    this.compactWhereDue();
    return applied;
  }

  /** How texts become semantic IDs, for people to read; '' where there are no codebooks. */
  get textsBy(): string {
    const { semanticIds } = this.options;
    if (semanticIds === undefined) return '';
    return semanticIds.embedder?.name ?? 'none: the codebooks say nothing of texts';
  }

  /**
   * Where a vector or text would go in the newest version, and live items near; changes nothing.
   * @throws TesseraError CATALOGUE_INVALID with the field
   */
  async landing(source: VectorSource, neighbours: number): Promise<Landing> {
    const { semanticIds } = this.options;
    const vector = await vectorOf(semanticIds, source, '');
    const landing = await this.catalogue.landing(vector, neighbours);
    const { codes, distances, sid, sequence } = landing;
    return {
      codes: [...codes],
      distances: [...distances],
      sid: [...sid],
      neighbours: neighboursOf(landing),
      codebooks: semanticIds?.digest ?? '',
      sequence,
    };
  }

  /** Why changes are not taken now; '' where they are. Cheap. */
  whyNotWritten(): string {
    return this.catalogue.whyNotWritten();
  }

  /** Goes on taking changes where that had ended. Rejects with STORE_FULL, STORE_UNAVAILABLE. */
  recoverWriting(): Promise<void> {
    return this.catalogue.recoverWriting();
  }

  private nowMs(): number {
    return (this.options.nowMs ?? Date.now)();
  }

  state(): CatalogueState {
    return this.catalogue.state();
  }

  generations(): Promise<readonly CatalogueGeneration[]> {
    return this.catalogue.generations();
  }

  compact(): Promise<number> {
    return this.catalogue.compact();
  }

  /** Makes the items what they were. In a cluster as changes, which have numbers of their own. */
  async rollBack(to: number, source = '', how: Submission = {}): Promise<number> {
    const ops = { roll_back: 1 };
    if (this.order !== undefined) {
      const { batches, onto } = await changesBackTo(this.catalogue, to);
      let newest = onto;
      for (const messages of batches) {
        const changes = { messages, onto: newest, ops, told: [], source };
        newest = (await this.order(changes, stepOf(how, newest))).sequence;
      }
      return newest;
    }
    const sequence = await this.gate.together(async () => {
      await this.imports.settle();
      return this.catalogue.rollBack(to);
    });
    this.tell({ sequence, changeCount: 1, ops, told: [], messages: [], source });
    return sequence;
  }

  /** Digest of the items of the newest version, and the newest mark. */
  digest(): Promise<CatalogueDigest> {
    return this.catalogue.digest();
  }

  /** Resolves when no compaction of its own accord runs. */
  async settled(): Promise<void> {
    await this.compaction;
  }

  private compactWhereDue(): void {
    const { compactAfterChanges, onCompacted } = this.options;
    if (compactAfterChanges === 0 || this.compaction !== undefined) return;
    const { changesSinceSnapshot, snapshotItemCount } = this.catalogue.state();
    const due = Math.max(compactAfterChanges, snapshotItemCount / ITEMS_PER_CHANGE);
    if (changesSinceSnapshot < due) return;
    this.compaction = this.catalogue
      .compact()
      .then(
        () => onCompacted(undefined),
        (thrown: unknown) => onCompacted(TesseraError.from(thrown)),
      )
      .finally(() => {
        this.compaction = undefined;
      });
  }
}
