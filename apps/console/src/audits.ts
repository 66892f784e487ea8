import { Injectable } from '@nestjs/common';
import { TesseraError } from '@tessera/errors';
import type { Visitor } from './console-access.js';
import { ConsoleParts } from './console-parts.js';

const NAME_LENGTH_MAX = 128;
const DETAIL_LENGTH_MAX = 1000;

/** An action in the console. */
export interface Action {
  readonly action:
    | 'login'
    | 'logout'
    | 'export'
    | 'erase-user'
    | 'add-note'
    | 'remove-note'
    | 'remove-comparison'
    | 'save-set'
    | 'remove-set'
    | 'save-question'
    | 'remove-question'
    | 'roll-back-catalogue'
    | 'import-changes'
    | 'activate'
    | 'rollback'
    | 'pin'
    | 'unpin'
    | 'delete';
  /** Name of the user, set, recall or adapter that the action changes. */
  readonly name: string;
  readonly digest?: string;
  readonly detail?: string;
}

/** Every action of the console: in the audit log, and counted. */
@Injectable()
export class Audits {
  constructor(private readonly parts: ConsoleParts) {}

  /** Does it between two lines of the audit log: what cannot be audited is not done. */
  async audited<Result>(
    visitor: Visitor,
    action: Action,
    act: () => Promise<Result>,
  ): Promise<Result> {
    await this.write(visitor, action, 'begun');
    try {
      const result = await act();
      await this.end(visitor, action, 'OK');
      return result;
    } catch (thrown) {
      const { code, message } = TesseraError.from(thrown);
      await this.end(visitor, { ...action, detail: message }, code);
      throw thrown;
    }
  }

  /**
   * Writes one line for an action that is done at once, or refused. Rejects with STORE_FULL,
   * IO_FAILED.
   */
  async note(visitor: Visitor | undefined, action: Action, outcome: string): Promise<void> {
    this.parts.countAction(action.action, outcome);
    await this.write(visitor, action, outcome);
  }

  /** The action has happened: where its end cannot be written, that is logged, and no more. */
  private async end(visitor: Visitor, action: Action, outcome: string): Promise<void> {
    await this.note(visitor, action, outcome).catch((error: unknown) => {
      const { log } = this.parts;
      log.error({ err: error, ...action, outcome }, 'the end of an action could not be audited');
    });
  }

  private write(
    visitor: Visitor | undefined,
    { action, name, digest = '', detail = '' }: Action,
    outcome: string,
  ): Promise<void> {
    return this.parts.audits.write({
      timeMs: this.parts.nowMs(),
      action,
      actor: visitor?.name ?? '',
      digest,
      outcome,
      name: name.slice(0, NAME_LENGTH_MAX),
      detail: detail.slice(0, DETAIL_LENGTH_MAX),
      role: visitor?.role ?? '',
    });
  }
}
