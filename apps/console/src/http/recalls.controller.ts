import {
  Body,
  Controller,
  Delete,
  Get,
  HttpCode,
  Param,
  Post,
  Query,
  Req,
  Res,
} from '@nestjs/common';
import { TesseraError } from '@tessera/errors';
import { askedAgain } from '@tessera/inspection';
import type { ExplainAnswer } from '@tessera/recall';
import { MICROSECONDS_PER_MILLISECOND } from '@tessera/units';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Note, RecallPage, RecallSummary, TriedRecall } from '../api-types.js';
import { ConsoleParts } from '../console-parts.js';
import { anyFieldsOf, fieldsOf, integerOf, optionalText, textOf } from '../fields.js';
import { Gate } from '../gate.js';
import { goneSignal } from '../gone-signal.js';
import { Notes } from '../notes.js';
import { Recorded } from '../recorded.js';
import { trialSettings, versionedContext } from '../trial-settings.js';

const ID_LENGTH_MAX = 1024;
const LIST_MAX = 500;
const FILTERS = ['userId', 'requestId', 'itemId', 'code', 'fromMs', 'beforeMs', 'limit'];

@Controller('console/api/recalls')
export class RecallsController {
  constructor(
    private readonly parts: ConsoleParts,
    private readonly gate: Gate,
    private readonly recorded: Recorded,
    private readonly notes: Notes,
  ) {}

  /** Newest first. */
  @Get()
  async list(
    @Req() request: FastifyRequest,
    @Query() query: unknown,
  ): Promise<{ readonly recalls: readonly RecallSummary[] }> {
    await this.gate.look(request);
    const fields = fieldsOf(query, FILTERS);
    const texts = ['userId', 'requestId', 'itemId', 'code'] as const;
    const times = ['fromMs', 'beforeMs'] as const;
    const filter = {
      limit: integerOf(fields, 'limit', { min: 1, max: LIST_MAX, fallback: 50 }),
      ...Object.fromEntries(
        texts.flatMap((name) => {
          const value = optionalText(fields, name, ID_LENGTH_MAX);
          return value === undefined ? [] : [[name, value]];
        }),
      ),
      ...Object.fromEntries(
        times.flatMap((name) =>
          fields[name] === undefined
            ? []
            : [[name, integerOf(fields, name, { min: 0, max: Number.MAX_SAFE_INTEGER })]],
        ),
      ),
    };
    const { store } = this.recorded;
    await store.settled();
    return { recalls: await store.recalls(filter) };
  }

  /**
   * The body is that of a recall over HTTP, and may name a version of the catalogue; the answer is
   * recorded.
   */
  @Post()
  @HttpCode(200)
  async try(
    @Req() request: FastifyRequest,
    @Body() body: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<TriedRecall> {
    await this.gate.ask(request);
    const { store } = this.recorded;
    const { body: asked, sequence } = trialSettings(anyFieldsOf(body));
    const { request: wanted } = this.parts.parseRecall(asked);
    const { serving } = this.parts.runtime;
    const context = await versionedContext(serving, wanted, sequence, this.context(reply));
    const { recordId } = await this.parts.recalls.try(wanted, context);
    if (recordId !== '') {
      await store.settled();
      return { id: recordId };
    }
    throw new TesseraError('STORE_FULL', 'inspection: too many recalls wait to be recorded');
  }

  @Get(':id')
  async page(@Req() request: FastifyRequest, @Param('id') id: string): Promise<RecallPage> {
    await this.gate.look(request);
    return this.recorded.page(id);
  }

  /** The fate of an item in the recall, replayed as it was asked. */
  @Post(':id/explain')
  @HttpCode(200)
  async explain(
    @Req() request: FastifyRequest,
    @Param('id') id: string,
    @Body() body: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ExplainAnswer> {
    await this.gate.ask(request);
    const itemId = textOf(fieldsOf(body, ['itemId']), 'itemId', ID_LENGTH_MAX);
    const { request: recorded, answer, requestId } = await this.recorded.recall(id);
    if (answer === undefined) {
      throw new TesseraError('REQUEST_INVALID', 'recall: expected one with an answer, got none', {
        field: 'recall',
      });
    }
    const { versions, history, profile } = answer;
    const { serving } = this.parts.runtime;
    const context = this.context(reply);
    const recall = askedAgain(recorded);
    const asked = { recall: { ...recall, requestId }, itemId, versions };
    try {
      return await serving.explain(asked, context);
    } catch (thrown) {
      // The service no longer remembers the prompt: the history that was recorded is replayed.
      if (TesseraError.from(thrown).field !== 'requestId' || history.length === 0) throw thrown;
      const { userId: _user, ...rest } = recall;
      const replayed = { ...rest, profile, history: history.map((item) => item.itemId) };
      return serving.explain(
        { ...asked, recall: { ...replayed, skipUnknownItems: true } },
        context,
      );
    }
  }

  @Post(':id/notes')
  @HttpCode(200)
  note(
    @Req() request: FastifyRequest,
    @Param('id') id: string,
    @Body() body: unknown,
  ): Promise<Note> {
    return this.notes.add(request, id, body, (kept) => this.recorded.recall(kept));
  }

  @Delete(':id/notes/:note')
  removeNote(
    @Req() request: FastifyRequest,
    @Param('id') id: string,
    @Param('note') note: string,
  ): Promise<{ readonly removed: boolean }> {
    return this.notes.remove(request, id, note);
  }

  private context(reply: FastifyReply) {
    const budgetUs = this.parts.limits.defaultDeadlineMs * MICROSECONDS_PER_MILLISECOND;
    return { signal: goneSignal(reply), budgetUs };
  }
}
