/** Items of an answer where the request gives no count. */
export const DEFAULT_RESULT_COUNT = 10;

/** Beams of a step where a request for a beam gives no widths. */
export const BEAM_WIDTH = 50;

/** Choices of recalls that no operator makes. */
export const RECALL_CHOICES = {
  /** Percent of a full history that may be left out so that prompts begin alike (ADR 0034). */
  historyTrimPercent: 50,
  /** Newest prompts of a catalogue kept for explanations: some megabytes. */
  rememberedRecalls: 1024,
} as const;
