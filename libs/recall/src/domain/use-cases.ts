import { append } from './append.js';
import { explain } from './explain.js';
import { Preparation } from './preparation.js';
import { recall } from './recall.js';
import type { RecallParts } from './recall-parts.js';
import type {
  AppendAnswer,
  ExplainAnswer,
  ExplainRequest,
  RecallAnswer,
  RecallContext,
  RecallRequest,
  ScoreAnswer,
  ScoreRequest,
  UserSource,
} from './recall-types.js';
import { score } from './score.js';

/** The requests that one catalogue answers; each is a file of its own beside this one. */
export class UseCases {
  private readonly preparation: Preparation;

  constructor(parts: RecallParts) {
    this.preparation = new Preparation(parts);
  }

  recall(request: RecallRequest, context: RecallContext): Promise<RecallAnswer> {
    return recall(this.preparation, request, context);
  }

  score(request: ScoreRequest, context: RecallContext): Promise<ScoreAnswer> {
    return score(this.preparation, request, context);
  }

  explain(request: ExplainRequest, context: RecallContext): Promise<ExplainAnswer> {
    return explain(this.preparation, request, context);
  }

  append(request: UserSource, context: RecallContext): Promise<AppendAnswer> {
    return append(this.preparation, request, context);
  }

  /** The prompts of the user's recalls can be explained no more. */
  forget(userId: string): void {
    this.preparation.remembered.forget(userId);
  }
}
