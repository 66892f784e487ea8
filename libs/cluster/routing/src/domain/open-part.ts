import { type PairCosts, placeOf, type Run } from './pair-work.js';

/** What one node gets of a call, as it grows. */
export class OpenPart {
  /** In their order. */
  documents: readonly number[] = [];
  /** Microseconds of the documents. */
  private documentsUs = 0;

  constructor(
    /** Index of the node. */
    readonly node: number,
    private readonly costs: PairCosts,
    /** Microseconds until the node has done what it has. */
    private readonly backlogUs: number,
    /** Of any part, whatever its documents. */
    private readonly partUs: number,
  ) {}

  /** Microseconds of the part alone. */
  get us(): number {
    return this.isEmpty ? 0 : this.partUs + this.costs.sharedUs + this.documentsUs;
  }

  /** When it ends; of an empty one 0, since nobody waits for it. */
  get finishUs(): number {
    return this.isEmpty ? 0 : this.backlogUs + this.us;
  }

  get isEmpty(): boolean {
    return this.documents.length === 0;
  }

  finishWithUs(run: Run): number {
    const { documents, costs, backlogUs, partUs, documentsUs } = this;
    const added = costs.addedUs(documents, run, placeOf(documents, run.first));
    return backlogUs + partUs + costs.sharedUs + documentsUs + added;
  }

  finishWithoutUs(at: number): number {
    if (this.documents.length === 1) return 0;
    return this.finishUs - this.costs.heldUs(this.documents, at);
  }

  add({ first, last }: Run): void {
    const at = placeOf(this.documents, first);
    this.documentsUs += this.costs.addedUs(this.documents, { first, last }, at);
    const run = Array.from({ length: last - first + 1 }, (_, i) => first + i);
    this.documents = [...this.documents.slice(0, at), ...run, ...this.documents.slice(at)];
  }

  put(documents: readonly number[]): void {
    this.documents = documents;
    this.documentsUs = this.costs.documentsUs(documents);
  }
}
