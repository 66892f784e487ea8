import { Injectable } from '@nestjs/common';
import { jaccardDistance, shapleyValues } from '@tessera/analysis';
import { TesseraError } from '@tessera/errors';
import type { RecordedAnswer, RecordedRecall } from '@tessera/inspection';
import type { RecallContext, RecallRequest } from '@tessera/recall';
import { MICROSECONDS_PER_MILLISECOND } from '@tessera/units';
import type { ChangePart, UserChangePage } from './api-types.js';
import { ConsoleParts } from './console-parts.js';
import { invalid } from './fields.js';
import { Recorded } from './recorded.js';
import { BASE, replayOf } from './replay.js';
import { versionedContext } from './trial-settings.js';

const PARTS = ['history', 'catalogue', 'adapter'] as const;

interface Side {
  readonly recall: RecordedRecall;
  readonly answer: RecordedAnswer;
}

type Choice = Readonly<Record<ChangePart, Side>>;

const idsOf = ({ items }: Pick<RecordedAnswer, 'items'>) => items.map(({ itemId }) => itemId);

/** A part of a recall as text, by which two recalls are compared. */
const WORTH_OF: Readonly<Record<ChangePart, (answer: RecordedAnswer) => string>> = {
  history: ({ history, profile }) =>
    JSON.stringify([history.map(({ itemId, action }) => [itemId, action]), profile]),
  catalogue: ({ versions }) => String(versions.catalogueSequence),
  adapter: ({ versions }) => versions.adapter,
};

/**
 * Why two recorded recalls of a user differ: the recall is asked again with each part of the one or
 * the other, and the difference is shared out (Shapley 1953).
 */
@Injectable()
export class UserChanges {
  constructor(
    private readonly parts: ConsoleParts,
    private readonly recorded: Recorded,
  ) {}

  async between(leftId: string, rightId: string, signal: AbortSignal): Promise<UserChangePage> {
    const left = await this.side(leftId, 'left');
    const right = await this.side(rightId, 'right');
    if (left.recall.request.userId !== right.recall.request.userId) {
      throw invalid('right', 'a recall of the user of the other', rightId);
    }
    const reasons = new Map<ChangePart, string>();
    const players: ChangePart[] = [];
    for (const part of PARTS) {
      if (WORTH_OF[part](left.answer) === WORTH_OF[part](right.answer)) continue;
      const reason = await this.whyNot(part, left, right, signal);
      if (reason === '') players.push(part);
      else reasons.set(part, reason);
    }
    const corners = await this.cornersOf(players, reasons, left, right, signal);
    return pageOf(left, right, { players, reasons, corners });
  }

  private async side(id: string, field: string): Promise<Side> {
    const recall = await this.recorded.recall(id);
    const { answer } = recall;
    if (answer !== undefined) return { recall, answer };
    throw invalid(field, 'a recall with an answer', id);
  }

  /** '' where both sides can be asked; the other parts are those of the later recall. */
  private async whyNot(
    part: ChangePart,
    left: Side,
    right: Side,
    signal: AbortSignal,
  ): Promise<string> {
    const later = { history: right, catalogue: right, adapter: right };
    try {
      for (const side of [left, right]) {
        if (part === 'history') {
          if (side.answer.history.length > 0) continue;
          return 'the recall has no recorded history';
        }
        if (part === 'catalogue') await this.context(later, side, signal);
        else await this.ask(Object.assign({}, later, { adapter: side }), signal, NOT_PINNED);
      }
      return '';
    } catch (thrown) {
      return TesseraError.from(thrown).message;
    }
  }

  private async cornersOf(
    players: readonly ChangePart[],
    reasons: ReadonlyMap<ChangePart, string>,
    left: Side,
    right: Side,
    signal: AbortSignal,
  ): Promise<Corners> {
    const corners: Corners = new Map();
    const isPinned = !reasons.has('catalogue');
    for (let mask = 0; mask < 2 ** players.length; mask++) {
      const later = players.filter((_, bit) => (mask >> bit) % 2 === 1);
      // A part that cannot be asked is that of the later recall, which is more likely served.
      const sideOf = (part: ChangePart) =>
        later.includes(part) || reasons.has(part) ? right : left;
      const choice = {
        history: sideOf('history'),
        catalogue: sideOf('catalogue'),
        adapter: sideOf('adapter'),
      };
      const itemIds = await this.ask(choice, signal, isPinned);
      corners.set(later.join(), { later, itemIds });
    }
    return corners;
  }

  private async ask(choice: Choice, signal: AbortSignal, isPinned: boolean): Promise<string[]> {
    const request = requestOf(choice);
    const context = isPinned
      ? await this.context(choice, choice.catalogue, signal)
      : this.plain(signal);
    return idsOf(await this.parts.runtime.serving.recall(request, context));
  }

  private context(choice: Choice, catalogue: Side, signal: AbortSignal): Promise<RecallContext> {
    const { catalogueSequence } = catalogue.answer.versions;
    const { serving } = this.parts.runtime;
    return versionedContext(serving, requestOf(choice), catalogueSequence, this.plain(signal));
  }

  private plain(signal: AbortSignal): RecallContext {
    const budgetUs = this.parts.limits.defaultDeadlineMs * MICROSECONDS_PER_MILLISECOND;
    return { signal, budgetUs, isOwn: true };
  }
}

const NOT_PINNED = false;

type Corners = Map<
  string,
  { readonly later: readonly ChangePart[]; readonly itemIds: readonly string[] }
>;

/** Request like the recall's, with a written history and the adapter's digest. */
function requestOf({ history, adapter }: Choice): RecallRequest {
  const replay = replayOf(history.recall.request, history.answer);
  return { ...replay, adapter: adapter.answer.versions.adapter || BASE };
}

function pageOf(
  left: Side,
  right: Side,
  found: {
    readonly players: readonly ChangePart[];
    readonly reasons: ReadonlyMap<ChangePart, string>;
    readonly corners: Corners;
  },
): UserChangePage {
  const { players, reasons, corners } = found;
  const [before, after] = [idsOf(left.answer), idsOf(right.answer)];
  const first = corners.get('')?.itemIds ?? [];
  const worth = (coalition: readonly ChangePart[]) =>
    jaccardDistance(first, corners.get(coalition.join())?.itemIds ?? []);
  const shares = shapleyValues(players, worth);
  const distance = jaccardDistance(before, after);
  return {
    distance,
    shares: PARTS.map((part) => ({
      part,
      share: shares.get(part) ?? 0,
      isAsked: players.includes(part),
      reason: reasons.get(part) ?? '',
    })),
    rest: distance - worth(players),
    gained: after.filter((id) => !before.includes(id)),
    lost: before.filter((id) => !after.includes(id)),
    corners: [...corners.values()],
  };
}
