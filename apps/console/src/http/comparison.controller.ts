import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { Body, Controller, Delete, Get, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import { TesseraError } from '@tessera/errors';
import { MICROSECONDS_PER_MILLISECOND } from '@tessera/units';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type {
  ComparisonLine,
  ComparisonPage,
  ComparisonSides,
  ComparisonSummary,
  Note,
} from '../api-types.js';
import { ComparisonRun, type ComparisonSide } from '../comparison-run.js';
import { ConsoleParts } from '../console-parts.js';
import { sampledOf } from '../domain/sampled.js';
import { type Fields, fieldsOf, integerOf, invalid, SEED_BOUNDS, textsOf } from '../fields.js';
import { checkAuthor, Gate } from '../gate.js';
import { goneSignal } from '../gone-signal.js';
import { Notes } from '../notes.js';
import { Recorded } from '../recorded.js';
import { trialSettings, versionedContext } from '../trial-settings.js';

const TITLE_LENGTH_MAX = 200;
const DIGEST = /\b([0-9a-f]{10})[0-9a-f]{54}\b/g;
/** Users that a sample is drawn from. */
const SAMPLED_OF = 100_000;
const NO_USER = 'the first user';

function settingsOf(fields: Fields, side: 'left' | 'right'): Fields {
  const value = fields[side] ?? {};
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid(side, 'an object of settings', value);
  }
  const settings = value as Fields;
  for (const own of ['userId', 'history']) {
    if (own in settings)
      throw invalid(`${side}.${own}`, 'nothing: users are given beside', 'a value');
  }
  return settings;
}

/** In words, where nobody has given it a title; digests by their beginning, as everywhere. */
function titleOf({ left, right }: ComparisonSides): string {
  const words = (settings: Fields) =>
    Object.entries(settings)
      .map(([name, value]) => `${name} ${JSON.stringify(value).replace(DIGEST, '$1')}`)
      .join(', ') || 'as configured';
  return `${words(left)} against ${words(right)}`.slice(0, TITLE_LENGTH_MAX);
}

@Controller('console/api/comparisons')
export class ComparisonController {
  constructor(
    private readonly parts: ConsoleParts,
    private readonly gate: Gate,
    private readonly recorded: Recorded,
    private readonly notes: Notes,
  ) {}

  /**
   * Asks both settings for each user; tells progress, users and their sum line by line. One that
   * comes to its end is saved.
   */
  @Post()
  async compare(
    @Req() request: FastifyRequest,
    @Body() body: unknown,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { name: author } = await this.gate.ask(request);
    const fields = fieldsOf(body, ['left', 'right', 'users', 'sample', 'seed']);
    const sides = { left: settingsOf(fields, 'left'), right: settingsOf(fields, 'right') };
    const users = await this.usersOf(fields);
    const signal = goneSignal(reply);
    const run = new ComparisonRun(
      this.parts.runtime,
      await this.side(sides.left, signal),
      await this.side(sides.right, signal),
    );
    const lines = this.saved(run.lines(users), sides, author);
    const text = Readable.from(lines).map((line: ComparisonLine) => `${JSON.stringify(line)}\n`);
    void reply.header('content-type', 'application/x-ndjson').send(text);
  }

  /** Newest first. */
  @Get()
  async list(
    @Req() request: FastifyRequest,
  ): Promise<{ readonly comparisons: readonly ComparisonSummary[] }> {
    await this.gate.look(request);
    return { comparisons: await this.recorded.store.shelf.comparisons() };
  }

  @Get(':id')
  async page(@Req() request: FastifyRequest, @Param('id') id: string): Promise<ComparisonPage> {
    await this.gate.look(request);
    const { detail, ...summary } = await this.kept(id);
    const { sides, lines } = JSON.parse(detail) as Pick<ComparisonPage, 'sides' | 'lines'>;
    return { ...summary, sides, lines, notes: await this.recorded.store.shelf.notes(id) };
  }

  @Delete(':id')
  remove(
    @Req() request: FastifyRequest,
    @Param('id') id: string,
  ): Promise<{ readonly removed: boolean }> {
    const action = { action: 'remove-comparison', role: 'read', name: id } as const;
    return this.gate.act(request, action, async (visitor) => {
      const { shelf } = this.recorded.store;
      const found = await shelf.comparison(id);
      if (found !== undefined) checkAuthor(visitor, found.author, 'comparison');
      return { removed: await shelf.removeComparison(id) };
    });
  }

  @Post(':id/notes')
  @HttpCode(200)
  note(
    @Req() request: FastifyRequest,
    @Param('id') id: string,
    @Body() body: unknown,
  ): Promise<Note> {
    return this.notes.add(request, id, body, (kept) => this.kept(kept));
  }

  @Delete(':id/notes/:note')
  removeNote(
    @Req() request: FastifyRequest,
    @Param('id') id: string,
    @Param('note') note: string,
  ): Promise<{ readonly removed: boolean }> {
    return this.notes.remove(request, id, note);
  }

  private async kept(id: string) {
    const comparison = await this.recorded.store.shelf.comparison(id);
    if (comparison !== undefined) return comparison;
    const message = `comparison: expected the ID of one that is kept, got '${id.slice(0, 80)}'`;
    throw new TesseraError('ROUTE_NOT_FOUND', message, { field: 'comparison' });
  }

  private async usersOf(fields: Fields): Promise<readonly string[]> {
    const { compareUsersMax } = this.parts.limits;
    if (fields.users !== undefined) {
      const users = textsOf(fields, 'users', compareUsersMax);
      if (users.length === 0) throw invalid('users', 'at least one user', 'none');
      return users;
    }
    const sample = integerOf(fields, 'sample', { min: 1, max: compareUsersMax });
    const seed = integerOf(fields, 'seed', SEED_BOUNDS);
    const known = await this.parts.runtime.facts.sampleUserIds(SAMPLED_OF);
    const users = sampledOf(known, sample, seed);
    if (users.length === 0) throw invalid('sample', 'users that are known', 'none');
    return users;
  }

  /** A setting that is wrong, or a version that is gone, is refused before the first user. */
  private async side(settings: Fields, signal: AbortSignal): Promise<ComparisonSide> {
    const { body, sequence } = trialSettings(settings);
    // Behind those who want answers: this can wait.
    const requestFor = (userId: string) =>
      this.parts.parseRecall({ priority: 'low', ...body, userId }).request;
    const budgetUs = this.parts.limits.defaultDeadlineMs * MICROSECONDS_PER_MILLISECOND;
    const context = { signal, budgetUs };
    const { serving } = this.parts.runtime;
    const asked = requestFor(NO_USER);
    return { requestFor, context: await versionedContext(serving, asked, sequence, context) };
  }

  private async *saved(
    lines: AsyncGenerator<ComparisonLine>,
    sides: ComparisonSides,
    author: string,
  ): AsyncGenerator<ComparisonLine> {
    const { erasures } = this.parts.runtime.serving;
    const { mark } = erasures;
    const seen: ComparisonLine[] = [];
    for await (const line of lines) {
      if (line.kind !== 'summary') {
        if (line.kind !== 'progress') seen.push(line);
        yield line;
        continue;
      }
      const userIds = seen.flatMap((one) => ('userId' in one ? [one.userId] : []));
      // One that failed for all found nothing; one with a user who was erased meanwhile may not
      // be kept. Both are shown.
      const isKept = line.users > 0 && userIds.every((userId) => erasures.mayKeep(userId, mark));
      const store = isKept ? this.parts.store : undefined;
      const id = store === undefined ? '' : randomUUID();
      const summary = { ...line, id };
      await store?.shelf.saveComparison({
        id,
        timeMs: this.parts.nowMs(),
        author,
        title: titleOf(sides),
        userCount: line.users,
        overlap: line.overlap,
        userIds,
        detail: JSON.stringify({ sides, lines: [...seen, summary] }),
      });
      yield summary;
    }
  }
}
