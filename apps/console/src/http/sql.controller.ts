import { Body, Controller, Delete, Get, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import { SQL_LENGTH_MAX } from '@tessera/inspection';
import { MILLISECONDS_PER_SECOND } from '@tessera/units';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { SavedSet } from '../api-types.js';
import type { Visitor } from '../console-access.js';
import { ConsoleParts } from '../console-parts.js';
import { fieldsOf, textOf, textsOf } from '../fields.js';
import { checkAuthor, Gate } from '../gate.js';
import { goneSignal } from '../gone-signal.js';
import { Recorded } from '../recorded.js';

const SET_NAME_LENGTH_MAX = 200;
const SET_RECALLS_MAX = 10_000;

@Controller('console/api')
export class SqlController {
  constructor(
    private readonly parts: ConsoleParts,
    private readonly gate: Gate,
    private readonly recorded: Recorded,
  ) {}

  /** One SELECT over the recorded recalls, bounded in time, rows and bytes. */
  @Post('sql')
  @HttpCode(200)
  async query(
    @Req() request: FastifyRequest,
    @Body() body: unknown,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { name: asker } = await this.gate.ask(request);
    const sql = textOf(fieldsOf(body, ['sql']), 'sql', SQL_LENGTH_MAX);
    const { sqlRowsMax, sqlSeconds } = this.parts.limits;
    const timeoutMs = sqlSeconds * MILLISECONDS_PER_SECOND;
    const limits = { rowsMax: sqlRowsMax, timeoutMs, asker };
    const json = await this.recorded.store.query(sql, limits, goneSignal(reply));
    void reply.header('content-type', 'application/json; charset=utf-8').send(json);
  }

  @Get('sets')
  async sets(@Req() request: FastifyRequest): Promise<{ readonly sets: readonly SavedSet[] }> {
    await this.gate.look(request);
    return { sets: await this.recorded.store.shelf.savedSets() };
  }

  /** Takes the place of one of the same name and author. */
  @Post('sets')
  @HttpCode(200)
  async saveSet(@Req() request: FastifyRequest, @Body() body: unknown): Promise<SavedSet> {
    await this.gate.ask(request);
    const fields = fieldsOf(body, ['name', 'recallIds']);
    const name = textOf(fields, 'name', SET_NAME_LENGTH_MAX);
    const recallIds = textsOf(fields, 'recallIds', SET_RECALLS_MAX);
    const action = { action: 'save-set', role: 'read', name } as const;
    return this.gate.act(request, action, async (visitor) => {
      await this.checkAuthorOf(name, visitor);
      const set = { name, recallIds, author: visitor.name, timeMs: this.parts.nowMs() };
      await this.recorded.store.shelf.saveSet(set);
      return set;
    });
  }

  @Delete('sets/:name')
  removeSet(
    @Req() request: FastifyRequest,
    @Param('name') name: string,
  ): Promise<{ readonly removed: boolean }> {
    const action = { action: 'remove-set', role: 'read', name } as const;
    return this.gate.act(request, action, async (visitor) => {
      await this.checkAuthorOf(name, visitor);
      return { removed: await this.recorded.store.shelf.removeSet(name) };
    });
  }

  /** A set that there is may be replaced and removed by its author alone, or by an admin. */
  private async checkAuthorOf(name: string, visitor: Visitor): Promise<void> {
    const sets = await this.recorded.store.shelf.savedSets();
    const found = sets.find((set) => set.name === name);
    if (found !== undefined) checkAuthor(visitor, found.author, 'set');
  }
}
