import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { adapterChange, adapterView, isAdapterChange, withServing } from '../adapter-views.js';
import type { ActivatedVersion, AdapterChanges, AdaptersPage } from '../api-types.js';
import type { Action } from '../audits.js';
import type { Visitor } from '../console-access.js';
import { ConsoleParts } from '../console-parts.js';
import { fieldsOf, flagOf, integerOf, shareOf } from '../fields.js';
import { Gate } from '../gate.js';

const CHANGES_MAX = 500;
const NOTHING = { usedBytes: 0, maxBytes: 0 };

@Controller('console/api/adapters')
export class ConsoleAdaptersController {
  constructor(
    private readonly parts: ConsoleParts,
    private readonly gate: Gate,
  ) {}

  @Get()
  async page(@Req() request: FastifyRequest): Promise<AdaptersPage> {
    await this.gate.look(request);
    const { adapters } = this.parts.runtime.operations;
    if (adapters === undefined) {
      const nothing = { versions: [], titles: {}, arena: NOTHING, disk: NOTHING };
      return Object.assign({ isKept: false, defaultName: '' }, nothing);
    }
    const versions = adapters.list('').map((version) => adapterView(adapters, version));
    const { arena, disk } = adapters.memory();
    const { usedBytes, maxBytes } = arena;
    const { defaultName } = adapters;
    const titles = this.titlesOf(versions);
    return { isKept: true, defaultName, versions, titles, arena: { usedBytes, maxBytes }, disk };
  }

  /** Titles of the items that canaries gained or lost. */
  private titlesOf(versions: AdaptersPage['versions']): AdaptersPage['titles'] {
    const moved = versions.flatMap(({ report }) => [
      ...(report?.moves.gained ?? []),
      ...(report?.moves.lost ?? []),
    ]);
    const ids = [...new Set(moved.map(({ itemId }) => itemId))];
    const described = this.parts.runtime.facts.describe(ids);
    return Object.fromEntries(
      described.flatMap((item) => (item === undefined ? [] : [[item.itemId, item.title]])),
    );
  }

  /** Actions on them, with actor and outcome; newest first. */
  @Get('changes')
  async changes(@Req() request: FastifyRequest, @Query() query: unknown): Promise<AdapterChanges> {
    await this.gate.look(request);
    const fields = fieldsOf(query, ['limit']);
    const limit = integerOf(fields, 'limit', { min: 1, max: CHANGES_MAX, fallback: 50 });
    const { entries, isWhole } = await this.parts.audits.newest(limit, isAdapterChange);
    const versions = this.parts.runtime.operations.adapters?.list('') ?? [];
    const changes = withServing(entries.map(adapterChange), versions, isWhole);
    return { changes: changes.slice(0, limit), isWhole };
  }

  /** For a share of the users, as a canary, or for all of them. */
  @Post(':name/:digest/activate')
  @HttpCode(200)
  async activate(
    @Req() request: FastifyRequest,
    @Param('name') name: string,
    @Param('digest') digest: string,
    @Body() body: unknown,
  ): Promise<ActivatedVersion> {
    const visitor = await this.admin(request, { action: 'activate', name, digest });
    const fields = fieldsOf(body, ['share', 'force', 'cold']);
    const { warmedUsers, goldenOverlap } = await this.parts.adapterActions.activateAs(
      visitor,
      { name, digest },
      {
        share: shareOf(fields, 'share'),
        isCompared: !flagOf(fields, 'force'),
        isWarmed: !flagOf(fields, 'cold'),
      },
    );
    return { warmedUsers, ...(goldenOverlap !== undefined && { goldenOverlap }) };
  }

  /** Ends the canary of a name, or brings back what was active before. */
  @Post(':name/roll-back')
  @HttpCode(200)
  async rollBack(
    @Req() request: FastifyRequest,
    @Param('name') name: string,
  ): Promise<{ readonly serves: string; readonly replaced: string }> {
    const visitor = await this.admin(request, { action: 'rollback', name });
    const { serves, replaced } = await this.parts.adapterActions.rollBackAs(visitor, name);
    return { serves: serves?.digest ?? '', replaced: replaced?.digest ?? '' };
  }

  /** Keeps it loaded, so that requests may name its digest. */
  @Post(':name/:digest/pin')
  @HttpCode(200)
  pin(
    @Req() request: FastifyRequest,
    @Param('name') name: string,
    @Param('digest') digest: string,
  ): Promise<{ readonly isPinned: boolean }> {
    return this.pinned(request, { name, digest }, true);
  }

  @Delete(':name/:digest/pin')
  unpin(
    @Req() request: FastifyRequest,
    @Param('name') name: string,
    @Param('digest') digest: string,
  ): Promise<{ readonly isPinned: boolean }> {
    return this.pinned(request, { name, digest }, false);
  }

  @Delete(':name/:digest')
  async delete(
    @Req() request: FastifyRequest,
    @Param('name') name: string,
    @Param('digest') digest: string,
  ): Promise<{ readonly removed: boolean }> {
    const visitor = await this.admin(request, { action: 'delete', name, digest });
    await this.parts.adapterActions.deleteAs(visitor, { name, digest });
    return { removed: true };
  }

  private async pinned(
    request: FastifyRequest,
    version: { readonly name: string; readonly digest: string },
    isPinned: boolean,
  ) {
    const visitor = await this.admin(request, { action: isPinned ? 'pin' : 'unpin', ...version });
    await this.parts.adapterActions.pinAs(visitor, version, isPinned);
    return { isPinned };
  }

  private admin(request: FastifyRequest, action: Action): Promise<Visitor> {
    return this.gate.allow(request, { ...action, role: 'admin' });
  }
}
