import { type AnswerAccount, AnswerForecast } from './answer-forecast.js';
import type { Arrival, Workload } from './arrival.js';
import { SharedStore } from './block-store.js';
import { EventQueue } from './event-queue.js';
import { LoadWindows } from './load-windows.js';
import { stepUs } from './model-costs.js';
import { type Outlook, SimulatedNode } from './node.js';
import type { Prompt } from './node-engine.js';
import type { SimulationOptions } from './options.js';
import { type Outcome, type Refusal, Tally } from './outcome.js';
import { type Policy, policyOf } from './policies.js';

/** A request that was admitted, at the node that has it now. */
interface Flight {
  readonly arrival: Arrival;
  node: SimulatedNode;
  /** Undefined for an append. */
  readonly account: AnswerAccount | undefined;
  readonly isSplit: boolean;
  endRouting: () => void;
  /** Set when its node dies: what was under way there ends nowhere. */
  isLost: boolean;
  holdsAnswer: boolean;
}

/** A complete prompt that waits for a place. */
interface Waiting {
  readonly flight: Flight;
  readonly account: AnswerAccount;
  readonly begunUs: number;
}

/** One fleet and one workload; the same options give the same outcome to the bit. */
export class Simulation {
  private readonly events = new EventQueue();
  private readonly tally = new Tally();
  private readonly windows = { prompts: new LoadWindows(), answers: new LoadWindows() };
  private readonly store: SharedStore | undefined;
  private readonly promptNodes: readonly SimulatedNode[];
  private readonly answerNodes: readonly SimulatedNode[];
  private readonly promptPolicy: Policy;
  private readonly answerPolicy: Policy;
  private readonly forecasts = new Map<SimulatedNode, AnswerForecast>();
  /** Answers of nodes that answer only are foreseen together. */
  private readonly forecast = new AnswerForecast();
  /** Answers that each node decodes or is about to. */
  private readonly held = new Map<SimulatedNode, number>();
  /** Complete prompts for whose answers no node has a place, in the order of their ends. */
  private readonly waiting = new Set<Waiting>();
  private readonly flights = new Map<SimulatedNode, Set<Flight>>();
  private lastUs = 0;

  constructor(
    private readonly workload: Workload,
    private readonly options: SimulationOptions,
  ) {
    const { sizes, costs, nodes, answerNodes, policy, seed } = options;
    const blocks = Math.floor(sizes.sharedBytes / (workload.blockTokens * costs.kvBytesPerToken));
    if (blocks > 0) this.store = new SharedStore(blocks, sizes.sharedBytesPerUs);
    this.promptNodes = this.made('node', nodes);
    this.answerNodes = answerNodes === 0 ? this.promptNodes : this.made('answer', answerNodes);
    this.promptPolicy = policyOf(policy, this.promptNodes, this.events, seed);
    this.answerPolicy = this.isApart
      ? policyOf(policy, this.answerNodes, this.events, seed + 1)
      : this.promptPolicy;
  }

  run(): Outcome {
    const { arrivals } = this.workload;
    for (const arrival of arrivals) {
      this.events.at(arrival.atUs, () => {
        this.tally.arrived += 1;
        this.arrive(arrival);
      });
    }
    for (const { node, atUs } of this.options.deaths) {
      this.events.at(atUs, () => this.die(this.allNodes()[node]));
    }
    this.events.run();
    let busyUs = 0;
    for (const { engine } of this.allNodes()) busyUs += engine.busyUs;
    const answerCapacity = this.answerNodes.length * this.options.answersMax;
    return this.tally.outcome({
      endUs: this.lastUs,
      lastArrivalUs: arrivals.at(-1)?.atUs ?? 0,
      busyUs,
      nodes: this.allNodes().length,
      storeReadBytes: this.store?.out.bytes ?? 0,
      storeWrittenBytes: this.store?.into.bytes ?? 0,
      prompts: { windows: this.windows.prompts, capacity: this.promptNodes.length },
      answers: { windows: this.windows.answers, capacity: answerCapacity },
    });
  }

  private get isApart(): boolean {
    return this.answerNodes !== this.promptNodes;
  }

  private allNodes(): readonly SimulatedNode[] {
    return this.isApart ? [...this.promptNodes, ...this.answerNodes] : this.promptNodes;
  }

  private made(kind: string, count: number): SimulatedNode[] {
    const { events, store, windows } = this;
    const { costs, sizes, planned } = this.options;
    const { blockTokens } = this.workload;
    return Array.from({ length: count }, (_, at) => {
      const name = `${kind}-${String(at).padStart(4, '0')}`;
      const parts = { events, costs, sizes, blockTokens, store, planned, windows };
      const node = new SimulatedNode(name, parts);
      this.flights.set(node, new Set());
      this.held.set(node, 0);
      this.forecasts.set(node, new AnswerForecast());
      return node;
    });
  }

  private arrive(arrival: Arrival): void {
    const isWhole = this.isApart && arrival.kind === 'recall' && this.isShortAtAnswerNode(arrival);
    const policy = isWhole ? this.answerPolicy : this.promptPolicy;
    const node = policy.choose(arrival);
    if (node === undefined) {
      this.tally.refused['no-node'] += 1;
      return;
    }
    const outlook = node.outlook(arrival);
    const refusal = this.refusalOf(arrival, node, outlook);
    if (refusal !== undefined) {
      this.tally.refused[refusal] += 1;
      return;
    }
    const beginsUs = this.events.nowUs + outlook.firstUs;
    const flight: Flight = {
      arrival,
      node,
      account: arrival.kind === 'append' ? undefined : this.forecastOf(node).admit(beginsUs),
      isSplit: this.isApart && arrival.kind === 'recall' && !isWhole,
      endRouting: policy.begin(node, arrival),
      isLost: false,
      holdsAnswer: false,
    };
    this.flights.get(node)?.add(flight);
    this.addPrompt(flight, outlook);
  }

  /** The node that would answer lacks so little that it computes the prompt by itself. */
  private isShortAtAnswerNode(arrival: Arrival): boolean {
    const node = this.answerPolicy.choose(arrival);
    if (node === undefined) return false;
    const { memoryBlocks, plan } = node.outlook(arrival);
    const kept = (memoryBlocks + plan.blocks) * this.workload.blockTokens;
    return arrival.promptTokens - kept <= this.options.splitTokens;
  }

  private forecastOf(node: SimulatedNode): AnswerForecast {
    return this.isApart ? this.forecast : (this.forecasts.get(node) ?? this.forecast);
  }

  /** Answers that those nodes which may answer can decode at once, and how many they have. */
  private places(node: SimulatedNode): { readonly all: number; readonly taken: number } {
    const able = this.isApart ? this.answerNodes.filter(({ isUp }) => isUp) : [node];
    let taken = 0;
    for (const one of able) taken += this.held.get(one) ?? 0;
    return { all: able.length * this.options.answersMax, taken };
  }

  private refusalOf(arrival: Arrival, node: SimulatedNode, outlook: Outlook): Refusal | undefined {
    const { admission, firstLimitUs } = this.options;
    if (admission === 'none' || arrival.kind === 'append') return undefined;
    if (outlook.firstUs > firstLimitUs) return 'first-step';
    if (admission === 'late') return undefined;
    const { all, taken } = this.places(node);
    if (admission === 'present') return taken >= all ? 'answers' : undefined;
    const { nowUs } = this.events;
    const beginsUs = this.forecastOf(node).beginOf(nowUs + outlook.firstUs, all, nowUs);
    return beginsUs - nowUs > firstLimitUs ? 'answers' : undefined;
  }

  private addPrompt(flight: Flight, outlook: Outlook): void {
    const { arrival, node } = flight;
    const loadedUs = node.load(arrival, outlook);
    const kept = outlook.memoryBlocks + outlook.plan.blocks;
    let begunUs = 0;
    const prompt: Prompt = {
      kind: arrival.kind,
      workUs: outlook.computeUs,
      isLoaded: loadedUs <= this.events.nowUs,
      onBegin: () => {
        begunUs = this.events.nowUs;
        this.countTokens(arrival, outlook, node.memoryBlocks(arrival));
        return node.computeUs(arrival, kept);
      },
      onEnd: () => this.promptEnds(flight, begunUs),
    };
    node.engine.addPrompt(prompt);
    if (!prompt.isLoaded) {
      this.events.at(loadedUs, () => {
        if (!flight.isLost) node.engine.loaded(prompt);
      });
    }
  }

  private countTokens(arrival: Arrival, { memoryBlocks, missing, plan }: Outlook, now: number) {
    const { tokens } = this.tally;
    const { blockTokens } = this.workload;
    const loaded = missing.slice(0, plan.blocks);
    const shared = loaded.filter((tier) => tier === 'shared').length;
    // Blocks that another request has computed since are in memory without a load.
    const kept = Math.max(memoryBlocks + plan.blocks, now);
    tokens.shared += shared * blockTokens;
    tokens.disk += (loaded.length - shared) * blockTokens;
    tokens.memory += (kept - loaded.length) * blockTokens;
    tokens.computed += arrival.promptTokens - kept * blockTokens;
  }

  private promptEnds(flight: Flight, begunUs: number): void {
    const { arrival, node, account } = flight;
    node.keep(arrival);
    if (account === undefined) {
      this.tally.appended += 1;
      this.leave(flight);
      return;
    }
    const waiting = { flight, account, begunUs };
    if (this.takesPlace(waiting)) return;
    this.waiting.add(waiting);
    // A place that becomes free later would be too late for the first step.
    this.events.at(Math.max(this.events.nowUs, arrival.atUs + this.options.firstLimitUs), () => {
      if (this.waiting.delete(waiting) && !flight.isLost) this.refuseLate(waiting, 'wasted');
    });
  }

  private refuseLate({ flight, account }: Waiting, refusal: Refusal): void {
    this.tally.refused[refusal] += 1;
    account.drop();
    this.leave(flight);
  }

  /** False while no node has a place. */
  private takesPlace(waiting: Waiting): boolean {
    const { flight, account, begunUs } = waiting;
    const { arrival, node } = flight;
    const answering = flight.isSplit ? this.leastHeld() : node;
    if (answering === undefined) {
      this.refuseLate(waiting, 'no-node');
      return true;
    }
    const isFull = this.heldBy(answering) >= this.options.answersMax;
    if (isFull && this.options.admission !== 'none') return false;
    flight.holdsAnswer = true;
    this.held.set(answering, this.heldBy(answering) + 1);
    if (answering === node) {
      this.beginAnswer(flight, account);
      return true;
    }
    this.leave(flight);
    flight.node = answering;
    flight.endRouting = () => undefined;
    this.flights.get(answering)?.add(flight);
    // Layers go over while those behind them are still computed.
    const bytes = arrival.blocks.length * node.blockBytes;
    this.events.at(answering.link.carry(bytes, begunUs), () => {
      if (!flight.isLost) this.beginAnswer(flight, account);
    });
    return true;
  }

  /** A place has become free: the first that may have it takes it. */
  private placesFreed(): void {
    for (const waiting of this.waiting) {
      if (waiting.flight.isLost || this.takesPlace(waiting)) this.waiting.delete(waiting);
    }
  }

  private heldBy(node: SimulatedNode): number {
    return this.held.get(node) ?? 0;
  }

  private leastHeld(): SimulatedNode | undefined {
    let best: SimulatedNode | undefined;
    for (const node of this.answerNodes) {
      if (!node.isUp) continue;
      if (best === undefined || this.heldBy(node) < this.heldBy(best)) best = node;
    }
    return best;
  }

  private beginAnswer(flight: Flight, account: AnswerAccount): void {
    const { arrival, node } = flight;
    const { nowUs } = this.events;
    account.begin(nowUs);
    const isCounted = arrival.atUs >= this.options.warmUpUs;
    if (isCounted) this.tally.firstUs.push(nowUs - arrival.atUs);
    node.engine.addAnswer({
      steps: arrival.steps,
      stepUs: stepUs(this.options.costs, arrival.promptTokens + arrival.steps / 2),
      onEnd: () => {
        account.end(this.events.nowUs);
        this.held.set(node, this.heldBy(node) - 1);
        this.tally.answered += 1;
        if (isCounted) this.tally.answerUs.push(this.events.nowUs - arrival.atUs);
        this.leave(flight);
        this.placesFreed();
      },
    });
  }

  /** The request has no more to do with its node. */
  private leave(flight: Flight): void {
    this.lastUs = this.events.nowUs;
    this.flights.get(flight.node)?.delete(flight);
    flight.endRouting();
  }

  /** Users of the node go to its successors, and what was under way begins again there. */
  private die(node: SimulatedNode | undefined): void {
    if (node === undefined || !node.isUp) return;
    node.stop();
    this.promptPolicy.lost(node);
    this.answerPolicy.lost(node);
    const lost = [...(this.flights.get(node) ?? [])];
    this.held.set(node, 0);
    for (const flight of lost) {
      flight.isLost = true;
      flight.account?.drop();
      this.leave(flight);
    }
    for (const { arrival } of lost) {
      this.tally.repeated += 1;
      this.arrive(arrival);
    }
  }
}
