import { Body, Controller, HttpCode, Post, Req } from '@nestjs/common';
import { ChangeAudits } from '@tessera/access';
import type { WireApplyRequest, WireChange, WireQuantiseRequest } from '@tessera/contracts';
import { expecting, finiteJson } from '@tessera/errors';
import { callerOf } from '@tessera/hosting';
import { RecallOperations } from '@tessera/recall';
import type { FastifyRequest } from 'fastify';
import { answerOf, applyWire, parseWireChanges, quantised } from '../wire/catalogue.mapper.js';
import { submissionOf } from '../wire/submission.js';
import { HTTP_JSON, HTTP_RPCS } from './json-form.js';

const APPLY = HTTP_RPCS['/v1/catalogue/apply'];
const QUANTISE = HTTP_RPCS['/v1/sid'];
/** The source that changes over HTTP are recorded with. */
const HTTP_SOURCE = 'HTTP';

const invalid = expecting('CATALOGUE_INVALID');

/** Attributes are objects in the body, and texts of objects in the message. */
type JsonChange = WireChange & {
  readonly upsert?: { readonly attributes?: object };
  readonly setAttributes?: { readonly attributes?: object };
  readonly patchAttributes?: { readonly set?: object };
};

function objectText(value: object | undefined, field: string): string {
  if (value === undefined) return '';
  const text = finiteJson(value);
  if (typeof text === 'string') return text;
  throw invalid(field, 'finite numbers', text);
}

function withTexts(change: JsonChange, index: number): WireChange {
  const { upsert, setAttributes, patchAttributes } = change;
  const at = `changes[${index}]`;
  for (const item of [upsert, setAttributes]) {
    if (item) Object.assign(item, { attributes: objectText(item.attributes, `${at}.attributes`) });
  }
  if (patchAttributes) {
    Object.assign(patchAttributes, { set: objectText(patchAttributes.set, `${at}.set`) });
  }
  return change;
}

/** Bodies are the JSON of the messages of CatalogueService. */
@Controller('v1')
export class CatalogueHttpController {
  constructor(
    private readonly operations: RecallOperations,
    private readonly changes: ChangeAudits,
  ) {}

  @Post('catalogue/apply')
  @HttpCode(200)
  async apply(@Body() body: unknown, @Req() request: FastifyRequest): Promise<object> {
    const asked = HTTP_JSON.readRequest<WireApplyRequest>(APPLY, body);
    const { catalogue: name } = asked;
    const change = {
      action: 'apply-changes',
      actor: callerOf(request).name,
      edge: 'http',
      name,
    } as const;
    const applied = await this.changes.noted(
      change,
      async () => {
        const catalogue = this.operations.changesOf(name);
        const changes = parseWireChanges((asked.changes as JsonChange[]).map(withTexts));
        const how = submissionOf((field) => request.headers[field]);
        return applyWire(catalogue, changes, asked, HTTP_SOURCE, how);
      },
      ({ sequence }) => `sequence ${sequence}`,
    );
    return HTTP_JSON.writeResponse(APPLY, answerOf(applied));
  }

  @Post('sid')
  @HttpCode(200)
  async quantise(@Body() body: unknown): Promise<object> {
    const asked = HTTP_JSON.readRequest<WireQuantiseRequest>(QUANTISE, body);
    const answer = await quantised(this.operations.changesOf(asked.catalogue), asked);
    return HTTP_JSON.writeResponse(QUANTISE, answer);
  }
}
