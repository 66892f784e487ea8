import { TesseraError } from '@tessera/errors';
import { checkedMembers, isSameMembers, type Member } from '../domain/members.js';
import type { Membership, MembershipReading, TakeMembers } from './membership.js';

const LOOK_EVERY_MS = 500;

/** Members that are asked for every half second, of whatever knows them. */
export class PolledMembership implements Membership {
  private members: readonly Member[] = [];
  private timer: NodeJS.Timeout | undefined;
  private fault = '';
  private isLooking = false;

  /** `ask`: the members as the source has them now; rejects where it is away. */
  constructor(
    private readonly source: string,
    private readonly ask: () => Promise<readonly Member[]>,
    private readonly everyMs = LOOK_EVERY_MS,
  ) {}

  async start(onMembers: TakeMembers): Promise<void> {
    await onMembers(this.members);
    await this.look(onMembers);
    this.timer = setInterval(() => void this.look(onMembers), this.everyMs);
    this.timer.unref();
  }

  reading(): MembershipReading {
    if (this.fault === '') return { state: 'ok', reason: '' };
    return { state: 'degraded', reason: `${this.source}: ${this.fault}; the last table serves on` };
  }

  close(): void {
    clearInterval(this.timer);
  }

  private async look(onMembers: TakeMembers): Promise<void> {
    if (this.isLooking) return;
    this.isLooking = true;
    try {
      const members = checkedMembers(await this.ask(), this.source);
      if (!isSameMembers(members, this.members)) {
        await onMembers(members);
        this.members = members;
      }
      this.fault = '';
    } catch (thrown) {
      this.fault = TesseraError.from(thrown).message;
    } finally {
      this.isLooking = false;
    }
  }
}
