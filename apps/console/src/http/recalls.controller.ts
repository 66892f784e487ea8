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
import { askedAgain, partOf } from '@tessera/inspection';
import type { ExplainAnswer } from '@tessera/recall';
import { MICROSECONDS_PER_MILLISECOND } from '@tessera/units';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Note, RecallList, RecallPage, TriedRecall, Unreached } from '../api-types.js';
import { ClusterNodes } from '../cluster-nodes.js';
import { ConsoleParts } from '../console-parts.js';
import { anyFieldsOf, fieldsOf, optionalText, textOf } from '../fields.js';
import { Gate } from '../gate.js';
import { goneSignal } from '../gone-signal.js';
import { Notes } from '../notes.js';
import { RecallLists } from '../recall-lists.js';
import { searchOf } from '../recall-search.js';
import { Recorded } from '../recorded.js';
import { replayOf } from '../replay.js';
import { trialSettings, versionedContext } from '../trial-settings.js';

const ID_LENGTH_MAX = 1024;
const NODE_LENGTH_MAX = 253;
/** Milliseconds beyond a replay's own deadline that its answer may take. */
const NODE_ANSWER_MS = 1000;
/** The node that a query names; undefined: none. */
function nodeOf(query: unknown): string | undefined {
  return optionalText(fieldsOf(query, ['node']), 'node', NODE_LENGTH_MAX);
}

function addressed(path: string, query: object): string {
  const words = Object.entries(query).map(([name, value]): [string, string] => [
    name,
    String(value),
  ]);
  return `${path}?${new URLSearchParams(words)}`;
}

@Controller('console/api/recalls')
export class RecallsController {
  constructor(
    private readonly parts: ConsoleParts,
    private readonly gate: Gate,
    private readonly recorded: Recorded,
    private readonly notes: Notes,
    private readonly nodes: ClusterNodes,
    private readonly lists: RecallLists,
  ) {}

  /** Recalls of this node and, in a cluster, of the others. */
  @Get()
  async list(
    @Req() request: FastifyRequest,
    @Query() query: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RecallList> {
    await this.gate.look(request);
    const search = searchOf(query);
    const signal = goneSignal(reply);
    const isOfAll = search.set === undefined && !this.nodes.isAlone(request);
    if (!isOfAll)
      return { recalls: await this.lists.list(search, this.nodes.own, signal), unreached: [] };
    // Each of the first of all is among the first of its node.
    const first = Object.assign({}, search, { offset: 0, limit: search.offset + search.limit });
    const unreached: Unreached[] = [];
    const own = this.lists.list(first, this.nodes.own, signal).catch((thrown: unknown) => {
      unreached.push({ node: this.nodes.own, reason: TesseraError.from(thrown).message });
      return [];
    });
    const path = addressed('recalls', Object.assign({}, query, { offset: 0, limit: first.limit }));
    const others = await this.nodes.others<RecallList>(path);
    const lists = [await own, ...others.answers.map(({ recalls }) => recalls)];
    const recalls = partOf(lists, search);
    return { recalls, unreached: [...unreached, ...others.unreached] };
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
    const { body: asked, sequence } = trialSettings(anyFieldsOf(body));
    const { request: wanted } = this.parts.parseRecall(asked);
    const { serving } = this.parts.runtime;
    const context = await versionedContext(serving, wanted, sequence, this.context(reply));
    const { recordId } = await this.parts.recalls.try(wanted, context);
    if (recordId !== '') return { id: recordId };
    throw new TesseraError('STORE_FULL', 'inspection: too many recalls wait to be recorded');
  }

  @Get(':id')
  async page(
    @Req() request: FastifyRequest,
    @Param('id') id: string,
    @Query() query: unknown,
  ): Promise<RecallPage> {
    await this.gate.look(request);
    const node = await this.nodes.named(request, nodeOf(query));
    if (node === undefined) return this.recorded.page(id, this.nodes.own);
    const path = `recalls/${encodeURIComponent(id)}`;
    const page = await this.nodes.ask<RecallPage>(node, { method: 'GET', path });
    return Object.assign(page, { isHere: false });
  }

  /** The fate of an item in the recall, replayed as it was asked, at the node that recorded it. */
  @Post(':id/explain')
  @HttpCode(200)
  async explain(
    @Req() request: FastifyRequest,
    @Param('id') id: string,
    @Query() query: unknown,
    @Body() body: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ExplainAnswer> {
    await this.gate.ask(request);
    const itemId = textOf(fieldsOf(body, ['itemId']), 'itemId', ID_LENGTH_MAX);
    const node = await this.nodes.named(request, nodeOf(query));
    if (node === undefined) return this.explainHere(id, itemId, reply);
    const path = `recalls/${encodeURIComponent(id)}/explain`;
    const timeoutMs = this.parts.limits.defaultDeadlineMs + NODE_ANSWER_MS;
    return this.nodes.ask(node, { method: 'POST', path, body: { itemId }, timeoutMs });
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

  private async explainHere(
    id: string,
    itemId: string,
    reply: FastifyReply,
  ): Promise<ExplainAnswer> {
    const { request: recorded, answer, requestId } = await this.recorded.recall(id);
    if (answer === undefined) {
      throw new TesseraError('REQUEST_INVALID', 'recall: expected one with an answer, got none', {
        field: 'recall',
      });
    }
    const { versions, history } = answer;
    const { serving } = this.parts.runtime;
    const context = this.context(reply);
    const asked = { recall: { ...askedAgain(recorded), requestId }, itemId, versions };
    try {
      return await serving.explain(asked, context);
    } catch (thrown) {
      // The service no longer remembers the prompt: the history that was recorded is replayed.
      if (TesseraError.from(thrown).field !== 'requestId' || history.length === 0) throw thrown;
      const replayed = { ...replayOf(recorded, answer), requestId };
      return serving.explain({ ...asked, recall: replayed }, context);
    }
  }

  private context(reply: FastifyReply) {
    const budgetUs = this.parts.limits.defaultDeadlineMs * MICROSECONDS_PER_MILLISECOND;
    return { signal: goneSignal(reply), budgetUs };
  }
}
