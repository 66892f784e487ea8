/** Users that are kept apart at most; what began before the oldest of them keeps nothing. */
const REMEMBERED_MAX = 4096;

/**
 * Users that were erased, and since when. A writer of a user's data takes a mark when its work
 * begins and asks before it writes: work that began before an erasure must not write after it.
 * There is no clock in this: where too many erasures have followed to be kept apart, the answer
 * is that the user was erased, and only what would have been kept is lost.
 */
export class Erasures {
  private last = 0;
  /** By user, the number of the newest erasure; in the order of the numbers. */
  private readonly numbers = new Map<string, number>();
  /** Erasures up to this number have been forgotten. */
  private forgotten = 0;

  private hasAll: () => boolean = () => true;
  private isUndone: (userId: string) => boolean = () => false;

  constructor(private readonly rememberedMax = REMEMBERED_MAX) {}

  /**
   * Sets a source that says whether all acknowledged erasures are noted here, and whose
   * are noted and not done yet.
   */
  heardFrom(hasAll: () => boolean, isUndone: (userId: string) => boolean): void {
    this.hasAll = hasAll;
    this.isUndone = isUndone;
  }

  /** False: nothing that is kept of the user may be used, and nothing added to it. */
  mayUse(userId: string | undefined): boolean {
    return this.hasAll() && !this.isErasing(userId);
  }

  /** True: the user is erased, and not yet everywhere here: nothing of them is to be read. */
  isErasing(userId: string | undefined): boolean {
    return userId !== undefined && this.isUndone(userId);
  }

  /** Mark of now, for isErasedSince(). */
  get mark(): number {
    return this.last;
  }

  /** The user is erased from now on. */
  note(userId: string): void {
    this.last += 1;
    this.numbers.delete(userId);
    this.numbers.set(userId, this.last);
    if (this.numbers.size <= this.rememberedMax) return;
    const [oldest] = this.numbers;
    if (oldest === undefined) return;
    this.numbers.delete(oldest[0]);
    this.forgotten = oldest[1];
  }

  /** True if something of a user may be written that was begun at the mark. */
  mayKeep(userId: string | undefined, mark: number): boolean {
    if (userId === undefined) return true;
    return this.mayUse(userId) && !this.isErasedSince(userId, mark);
  }

  /** False for a request without a user: it brought its own history. */
  isErasedSince(userId: string | undefined, mark: number): boolean {
    if (userId === undefined || mark === this.last) return false;
    return mark < this.forgotten || (this.numbers.get(userId) ?? 0) > mark;
  }
}
