import { Readable } from 'node:stream';
import { Body, Controller, Post, Req, Res } from '@nestjs/common';
import { TesseraError } from '@tessera/errors';
import type { RecallAnswer, RecallContext } from '@tessera/recall';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ComparisonLine } from '../api-types.js';
import { ConsoleParts } from '../console-parts.js';
import { AttributeCounts, type Comparison, compareAnswers } from '../domain/compare.js';
import { type Fields, fieldsOf, integerOf, refuse, textsOf } from '../fields.js';
import { Gate } from '../gate.js';
import { goneSignal } from '../gone-signal.js';

const MICROSECONDS_PER_MILLISECOND = 1000;

/** Two settings of a recall, as bodies of a recall over HTTP without their user. */
interface Sides {
  readonly left: Fields;
  readonly right: Fields;
}

function settingsOf(fields: Fields, side: 'left' | 'right'): Fields {
  const value = fields[side] ?? {};
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    refuse(side, 'an object of settings', value);
  }
  const settings = value as Fields;
  for (const own of ['userId', 'history']) {
    if (own in settings) refuse(`${side}.${own}`, 'nothing: users are given beside', 'a value');
  }
  return settings;
}

@Controller('console/api/comparisons')
export class ComparisonController {
  constructor(
    private readonly parts: ConsoleParts,
    private readonly gate: Gate,
  ) {}

  /** Asks both settings for each user; tells progress, users and their sum line by line. */
  @Post()
  async compare(
    @Req() request: FastifyRequest,
    @Body() body: unknown,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    this.gate.act(request, 'read', 'settings were compared');
    const fields = fieldsOf(body, ['left', 'right', 'users', 'sample']);
    const sides = { left: settingsOf(fields, 'left'), right: settingsOf(fields, 'right') };
    const users = await this.usersOf(fields);
    for (const side of ['left', 'right'] as const) this.request(sides[side], users[0] ?? '');
    const signal = goneSignal(reply);
    const budgetUs = this.parts.limits.defaultDeadlineMs * MICROSECONDS_PER_MILLISECOND;
    const lines = this.lines(sides, users, { signal, budgetUs });
    const text = Readable.from(lines).map((line: ComparisonLine) => `${JSON.stringify(line)}\n`);
    void reply.header('content-type', 'application/x-ndjson').send(text);
  }

  private async usersOf(fields: Fields): Promise<readonly string[]> {
    const { compareUsersMax } = this.parts.limits;
    if (fields.users !== undefined) {
      const users = textsOf(fields, 'users', compareUsersMax);
      if (users.length === 0) refuse('users', 'at least one user', 'none');
      return users;
    }
    const sample = integerOf(fields, 'sample', { min: 1, max: compareUsersMax });
    const users = await this.parts.runtime.sampleUserIds(sample);
    if (users.length === 0) refuse('sample', 'users that are known', 'none');
    return users;
  }

  private request(settings: Fields, userId: string) {
    // Behind those who want answers: this can wait.
    return this.parts.parseRecall({ priority: 'low', ...settings, userId }).request;
  }

  private async *lines(
    { left, right }: Sides,
    users: readonly string[],
    context: RecallContext,
  ): AsyncGenerator<ComparisonLine> {
    const sum = new ComparisonSum();
    const { runtime } = this.parts;
    for (const [done, userId] of users.entries()) {
      if (context.signal.aborted) return;
      yield { kind: 'progress', done, total: users.length };
      try {
        const ask = (settings: Fields) => runtime.recall(this.request(settings, userId), context);
        const [ofLeft, ofRight] = await Promise.all([ask(left), ask(right)]);
        const comparison = compareAnswers(ofLeft.items, ofRight.items);
        sum.add(comparison);
        this.countAttributes(sum.attributes, ofLeft, ofRight);
        yield { kind: 'user', userId, ...comparison };
      } catch (thrown) {
        sum.failed += 1;
        yield { kind: 'failed', userId, message: TesseraError.from(thrown).message };
      }
    }
    yield sum.line();
  }

  private countAttributes(counts: AttributeCounts, left: RecallAnswer, right: RecallAnswer): void {
    for (const [side, { items }] of [
      ['left', left],
      ['right', right],
    ] as const) {
      const described = this.parts.runtime.describe(items.map(({ itemId }) => itemId));
      for (const item of described) {
        if (item !== undefined) counts.add(side, JSON.parse(item.attributes) as Fields);
      }
    }
  }
}

/** The comparisons of all users as one. */
class ComparisonSum {
  failed = 0;
  readonly attributes = new AttributeCounts();
  private users = 0;
  private overlap = 0;
  private rankShift = 0;
  private gained = 0;
  private lost = 0;

  add({ overlap, rankShift, gained, lost }: Comparison): void {
    this.users += 1;
    this.overlap += overlap;
    this.rankShift += rankShift;
    this.gained += gained;
    this.lost += lost;
  }

  line(): ComparisonLine {
    const { users, failed, gained, lost } = this;
    const mean = (sum: number) => (users === 0 ? 0 : sum / users);
    return {
      kind: 'summary',
      users,
      failed,
      overlap: mean(this.overlap),
      rankShift: mean(this.rankShift),
      gained,
      lost,
      attributes: this.attributes.distribution(),
    };
  }
}
