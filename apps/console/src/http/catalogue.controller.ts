import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { CataloguePage, Landing, RecordedChange, TreeNames } from '../api-types.js';
import { CatalogueNames } from '../catalogue-names.js';
import type { Visitor } from '../console-access.js';
import { ConsoleParts } from '../console-parts.js';
import { fieldsOf, integerOf, optionalText, textOf } from '../fields.js';
import { Gate } from '../gate.js';
import { type ImportState, Imports } from '../imports.js';
import { Recorded } from '../recorded.js';

const CHANGES_MAX = 1000;
const TEXT_LENGTH_MAX = 65_535;
const NEIGHBOURS = 12;
const NAME_LENGTH_MAX = 200;
/** Characters of a part of an import. */
const PART_LENGTH_MAX = 512 * 1024;

@Controller('console/api/catalogue')
export class ConsoleCatalogueController {
  constructor(
    private readonly parts: ConsoleParts,
    private readonly gate: Gate,
    private readonly recorded: Recorded,
    private readonly imports: Imports,
    private readonly names: CatalogueNames,
  ) {}

  @Get()
  async page(@Req() request: FastifyRequest): Promise<CataloguePage> {
    await this.gate.look(request);
    const changes = this.parts.runtime.operations.changesOf('');
    const { sequence, liveItemCount, changedItemCount } = changes.state();
    const { bundleUuid } = changes;
    const generations = await changes.generations();
    return { sequence, liveItemCount, changedItemCount, bundleUuid, generations };
  }

  /** Changes of the catalogues, newest first. */
  @Get('changes')
  async changes(
    @Req() request: FastifyRequest,
    @Query() query: unknown,
  ): Promise<{ readonly changes: readonly RecordedChange[] }> {
    await this.gate.look(request);
    const fields = fieldsOf(query, ['limit']);
    const limit = integerOf(fields, 'limit', { min: 1, max: CHANGES_MAX, fallback: 100 });
    const { store } = this.recorded;
    return { changes: await store.changes(limit) };
  }

  /** Names of the nodes of the tree, after what the items below have in common. */
  @Get('names')
  async nodeNames(@Req() request: FastifyRequest, @Query() query: unknown): Promise<TreeNames> {
    await this.gate.look(request);
    return this.names.of(optionalText(fieldsOf(query, ['by']), 'by', NAME_LENGTH_MAX) ?? '');
  }

  /** Changes nothing. */
  @Post('landing')
  @HttpCode(200)
  async landing(@Req() request: FastifyRequest, @Body() body: unknown): Promise<Landing> {
    await this.gate.ask(request);
    const text = textOf(fieldsOf(body, ['text']), 'text', TEXT_LENGTH_MAX);
    return this.parts.runtime.operations.changesOf('').landing({ text }, NEIGHBOURS);
  }

  /** Makes the items those of an earlier version, as one more change. */
  @Post('roll-back')
  @HttpCode(200)
  async rollBack(
    @Req() request: FastifyRequest,
    @Body() body: unknown,
  ): Promise<{ readonly sequence: number }> {
    await this.gate.ask(request);
    const fields = fieldsOf(body, ['sequence']);
    const sequence = integerOf(fields, 'sequence', { min: 0, max: Number.MAX_SAFE_INTEGER });
    const name = String(sequence);
    const action = { action: 'roll-back-catalogue', role: 'admin', name } as const;
    return this.gate.act(request, action, async (visitor) => ({
      sequence: await this.parts.runtime.operations
        .changesOf('')
        .rollBack(sequence, sourceOf(visitor)),
    }));
  }

  /** A file of changes is to come, part by part. */
  @Post('imports')
  @HttpCode(200)
  async beginImport(@Req() request: FastifyRequest): Promise<{ readonly id: string }> {
    await this.gate.allow(request, importing(''));
    return { id: this.imports.begin() };
  }

  /** A part of it, in whole lines. */
  @Post('imports/:id/lines')
  @HttpCode(200)
  async addLines(
    @Req() request: FastifyRequest,
    @Param('id') id: string,
    @Body() body: unknown,
  ): Promise<ImportState> {
    await this.gate.allow(request, importing(id));
    return this.imports.add(id, textOf(fieldsOf(body, ['text']), 'text', PART_LENGTH_MAX));
  }

  /** All of it or none. */
  @Post('imports/:id/apply')
  @HttpCode(200)
  applyImport(
    @Req() request: FastifyRequest,
    @Param('id') id: string,
  ): Promise<ImportState & { readonly sequence: number }> {
    return this.gate.act(request, importing(id), (visitor) =>
      this.imports.apply(id, sourceOf(visitor)),
    );
  }

  @Delete('imports/:id')
  async cancelImport(
    @Req() request: FastifyRequest,
    @Param('id') id: string,
  ): Promise<{ readonly removed: boolean }> {
    await this.gate.allow(request, importing(id));
    return { removed: this.imports.drop(id) };
  }
}

/** How the change log names who acted in the console. */
const sourceOf = ({ name }: Visitor) => `console: ${name}`;

/** An import is prepared with the permission to apply it. */
const importing = (name: string) => ({ action: 'import-changes', role: 'admin', name }) as const;
