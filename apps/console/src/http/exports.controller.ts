import { createReadStream } from 'node:fs';
import { Body, Controller, Delete, Get, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import { EXPORT_FORMATS, type ExportFormat, SQL_LENGTH_MAX } from '@tessera/inspection';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ExportJob } from '../api-types.js';
import { Audits } from '../audits.js';
import { ExportJobs } from '../export-jobs.js';
import { fieldsOf, invalid, textOf } from '../fields.js';
import { Gate } from '../gate.js';

const MEDIA_TYPES: Readonly<Record<ExportFormat, string>> = {
  csv: 'text/csv; charset=utf-8',
  parquet: 'application/vnd.apache.parquet',
  arrow: 'application/vnd.apache.arrow.file',
};

/** Exports as jobs: begun, looked after, fetched and removed. */
@Controller('console/api/exports')
export class ExportsController {
  constructor(
    private readonly gate: Gate,
    private readonly audits: Audits,
    private readonly jobs: ExportJobs,
  ) {}

  @Post()
  @HttpCode(200)
  async begin(@Req() request: FastifyRequest, @Body() body: unknown): Promise<ExportJob> {
    const visitor = await this.gate.ask(request);
    const fields = fieldsOf(body, ['sql', 'format']);
    const sql = textOf(fields, 'sql', SQL_LENGTH_MAX);
    const format = formatOf(fields.format ?? 'csv');
    await this.audits.note(visitor, { action: 'export', name: format, detail: sql }, 'OK');
    return this.jobs.begin(sql, format, visitor.name);
  }

  @Get(':id')
  async state(@Req() request: FastifyRequest, @Param('id') id: string): Promise<ExportJob> {
    await this.gate.look(request);
    return this.jobs.state(id);
  }

  @Get(':id/file')
  async file(
    @Req() request: FastifyRequest,
    @Param('id') id: string,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await this.gate.look(request);
    const { file, format } = this.jobs.file(id);
    const stream = createReadStream(file.path);
    const cut = () => stream.destroy(new Error('the export is not sent any further'));
    file.ended.addEventListener('abort', cut, { once: true });
    void reply
      .header('content-type', MEDIA_TYPES[format])
      .header('content-disposition', `attachment; filename="tessera.${format}"`)
      .send(stream);
  }

  @Delete(':id')
  async remove(
    @Req() request: FastifyRequest,
    @Param('id') id: string,
  ): Promise<{ readonly removed: boolean }> {
    await this.gate.ask(request);
    return { removed: await this.jobs.remove(id) };
  }
}

function formatOf(format: unknown): ExportFormat {
  const found = EXPORT_FORMATS.find((one) => one === format);
  if (found === undefined) throw invalid('format', EXPORT_FORMATS.join(', '), format);
  return found;
}
