import type {
  AppendAnswer,
  ExplainAnswer,
  RankAnswer,
  RecallAnswer,
  ScoreAnswer,
} from '../answer/answer-types.js';
import { Preparation } from '../context/preparation.js';
import type { RecallParts } from '../context/recall-parts.js';
import { RequestScopes } from '../context/request-scope.js';
import type {
  ExplainRequest,
  RankRequest,
  RecallContext,
  RecallRequest,
  ScoreRequest,
  UserSource,
} from '../request/request-types.js';
import { append } from './append.js';
import { explain } from './explain.js';
import { rank } from './rank.js';
import { recall } from './recall.js';
import { score } from './score.js';

/** The requests that one catalogue answers; each is a file of its own beside this one. */
export class UseCases {
  private readonly preparation: Preparation;
  private readonly scopes = new RequestScopes();

  constructor(parts: RecallParts) {
    this.preparation = new Preparation(parts);
  }

  recall(request: RecallRequest, context: RecallContext): Promise<RecallAnswer> {
    return this.scopes.run((scope) => recall(this.preparation, request, { ...context, scope }));
  }

  score(request: ScoreRequest, context: RecallContext): Promise<ScoreAnswer> {
    return this.scopes.run((scope) => score(this.preparation, request, { ...context, scope }));
  }

  rank(request: RankRequest, context: RecallContext): Promise<RankAnswer> {
    return this.scopes.run((scope) => rank(this.preparation, request, { ...context, scope }));
  }

  explain(request: ExplainRequest, context: RecallContext): Promise<ExplainAnswer> {
    return this.scopes.run((scope) => explain(this.preparation, request, { ...context, scope }));
  }

  append(request: UserSource, context: RecallContext): Promise<AppendAnswer> {
    return this.scopes.run((scope) => append(this.preparation, request, { ...context, scope }));
  }

  /** @throws TesseraError REQUEST_INVALID naming a value that no prompt can show */
  checkProfile(profile: UserSource['profile']): void {
    this.preparation.checkProfile(profile);
  }

  /** Requests that have not ended. */
  get underway(): number {
    return this.scopes.open;
  }

  /** The prompts of the user's recalls can be explained no more. */
  forget(userId: string): void {
    this.preparation.remembered.forget(userId);
  }
}
