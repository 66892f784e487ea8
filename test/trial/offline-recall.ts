import { readFileSync } from 'node:fs';
import { usersOfFile } from '@tessera/behaviour';
import { createRecallRuntime, type RecallAnswer, type RecallRuntime } from '@tessera/recall';
import { Flags } from '../../tools/terminal/command.js';
import { MODEL_FLAGS, runtimeOptions } from '../../tools/terminal/model-flags.js';

const USERS_FILE = 'models/demo/users.json';
const BUDGET_US = 60e6;
const RESULT_COUNT = 5;
/** Of the window that holds what the demo's users did. */
const SETTLED_KEPT = 8;

interface FileUser {
  readonly profile?: Readonly<Record<string, string>>;
  readonly behaviours: readonly { readonly item_id: string; readonly time: number }[];
}

/** Recalls computed in this process, with nothing kept between them. */
export class OfflineRecall {
  private readonly users: Readonly<Record<string, FileUser>> = JSON.parse(
    readFileSync(USERS_FILE, 'utf8'),
  );
  private readonly known = new Map<string, Promise<readonly string[]>>();

  private constructor(private readonly runtime: RecallRuntime) {}

  static async open(): Promise<OfflineRecall> {
    const options = runtimeOptions(Flags.parse([], MODEL_FLAGS), () => undefined);
    return new OfflineRecall(
      await createRecallRuntime({ ...options, behaviours: usersOfFile('') }),
    );
  }

  /** Item IDs and scores of an answer, each as one text. */
  ofHistory(itemIds: readonly string[]): Promise<readonly string[]> {
    return this.once(itemIds, {});
  }

  ofSettled(userId: string): Promise<readonly string[]> {
    const { behaviours, profile = {} } = this.users[userId] as FileUser;
    const ordered = [...behaviours].sort((a, b) => a.time - b.time).slice(-SETTLED_KEPT);
    return this.once(
      ordered.map((behaviour) => behaviour.item_id),
      profile,
    );
  }

  close(): Promise<void> {
    return this.runtime.close();
  }

  private once(
    history: readonly string[],
    profile: Readonly<Record<string, string>>,
  ): Promise<readonly string[]> {
    const name = JSON.stringify([history, profile]);
    const answer = this.known.get(name) ?? this.recall(history, profile).then(itemTexts);
    this.known.set(name, answer);
    return answer;
  }

  private recall(
    history: readonly string[],
    profile: Readonly<Record<string, string>>,
  ): Promise<RecallAnswer> {
    return this.runtime.serving.recall(
      {
        requestId: '',
        history,
        profile,
        scene: {},
        resultCount: RESULT_COUNT,
        widths: [],
        itemsPerSid: 0,
        skipUnknownItems: true,
      },
      { signal: new AbortController().signal, budgetUs: BUDGET_US },
    );
  }
}

/** Rank by rank the item and the bits of its score. */
export function itemTexts(answer: {
  readonly items: readonly { readonly itemId: string; readonly score: number }[];
}): readonly string[] {
  return answer.items.map(({ itemId, score }) => `${itemId} ${score}`);
}
