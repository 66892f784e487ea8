import { Controller, Get, Query, Req } from '@nestjs/common';
import { MILLISECONDS_PER_MINUTE } from '@tessera/units';
import type { FastifyRequest } from 'fastify';
import { canaryViews } from '../adapter-views.js';
import type { About, LivePage } from '../api-types.js';
import { ConsoleParts } from '../console-parts.js';
import { fieldsOf, integerOf } from '../fields.js';
import { Gate } from '../gate.js';

const MINUTES_MAX = 24 * 60;
const TIME_BOUNDS = { min: 0, max: Number.MAX_SAFE_INTEGER, fallback: 0 };

@Controller('console/api')
export class AboutController {
  constructor(
    private readonly parts: ConsoleParts,
    private readonly gate: Gate,
  ) {}

  /** The versions that are served, and the person who asks. */
  @Get('about')
  async about(@Req() request: FastifyRequest): Promise<About> {
    const visitor = await this.gate.look(request);
    const { runtime, readiness, serviceVersion, store, eraseUser } = this.parts;
    const { model, catalogue, promptTemplate } = runtime.facts.summary;
    const { sequence, liveItemCount } = runtime.operations.changesOf('').state();
    return {
      service: serviceVersion,
      state: readiness.state,
      visitor,
      model: {
        family: model.family,
        parameterCount: model.parameterCount,
        computeType: model.computeType,
        instructionSet: model.instructionSet,
        digest: model.digest,
      },
      catalogue: {
        digest: catalogue.digest,
        itemCount: catalogue.itemCount,
        pathCount: catalogue.pathCount,
        depth: catalogue.depth,
        sequence,
        liveItemCount,
      },
      promptTemplate: { name: promptTemplate.name, digest: promptTemplate.digest },
      valuations: catalogue.valuations ?? [],
      isRecording: store !== undefined,
      canErase: eraseUser !== undefined,
    };
  }

  /** How the service fared in the last minutes, or since what the page has already. */
  @Get('live')
  async live(@Req() request: FastifyRequest, @Query() query: unknown): Promise<LivePage> {
    await this.gate.look(request);
    const { recalls, runtime, store, nowMs } = this.parts;
    const fields = fieldsOf(query, ['minutes', 'afterMs']);
    const minutes = integerOf(fields, 'minutes', { min: 1, max: MINUTES_MAX, fallback: 60 });
    const afterMs = integerOf(fields, 'afterMs', TIME_BOUNDS);
    const { queued, running } = runtime.facts.engineStats();
    const from = nowMs() - minutes * MILLISECONDS_PER_MINUTE;
    const pulses = await recalls.pulsesSince(Math.max(from, afterMs));
    return {
      pulses: pulses.filter(({ timeMs }) => timeMs > afterMs),
      engine: { queued, running },
      store: await store?.state(),
      canaries: canaryViews(runtime.operations.adapters),
    };
  }
}
