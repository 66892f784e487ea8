/**
 * What the gateway does with a method: `user`: asks the owner of the user whom the message names at
 * this path of field numbers, or the node that it names at `nodeAt`; `any`: one node; `change`: one
 * node, which brings it to all by the log; `append`: each owner gets its part; `split`: nodes get
 * parts by what they are predicted to compute.
 */
export type MethodKind =
  | {
      readonly does: 'user';
      readonly userAt: readonly number[];
      /** Of the node that has made the answer in question; left out: there is none. */
      readonly nodeAt?: readonly number[];
    }
  | { readonly does: 'any' | 'change' | 'append' | 'split' };

const user = (...userAt: number[]): MethodKind => ({ does: 'user', userAt });
const any: MethodKind = { does: 'any' };
const change: MethodKind = { does: 'change' };

/** By path; what has no entry is not served (KvPoolService/CheckIntegrity: ask each node). */
export const METHOD_KINDS: Readonly<Record<string, MethodKind>> = {
  '/tessera.recall.v1.RecallService/Recall': user(2),
  '/tessera.score.v1.ScoreService/Score': user(2),
  '/tessera.explain.v1.ExplainService/Explain': { does: 'user', userAt: [1, 2], nodeAt: [3, 7] },
  '/tessera.relevance.v1.RelevanceService/Score': { does: 'split' },
  '/tessera.embedding.v1.EmbeddingService/Embed': any,
  '/tessera.behaviour.v1.BehaviourService/Append': { does: 'append' },
  '/tessera.behaviour.v1.BehaviourService/PutProfile': user(1),
  '/tessera.behaviour.v1.BehaviourService/History': user(1),
  '/tessera.behaviour.v1.BehaviourService/Erase': change,
  '/tessera.catalogue.v1.CatalogueService/Apply': change,
  '/tessera.catalogue.v1.CatalogueService/ApplyStream': change,
  '/tessera.catalogue.v1.CatalogueService/ApplyBatch': change,
  '/tessera.catalogue.v1.CatalogueService/Compact': any,
  '/tessera.catalogue.v1.CatalogueService/RollBack': change,
  '/tessera.catalogue.v1.CatalogueService/Quantise': any,
  '/tessera.catalogue.v1.CatalogueService/GetState': any,
  '/tessera.catalogue.v1.CatalogueService/ListItems': any,
  '/tessera.catalogue.v1.CatalogueService/ListVersions': any,
  '/tessera.kv.v1.KvPoolService/Inspect': user(1),
  '/tessera.kv.v1.KvPoolService/DropUser': change,
  '/tessera.kv.v1.KvPoolService/DropVersion': change,
  '/tessera.kv.v1.KvPoolService/Append': user(2),
  '/tessera.adapter.v1.AdapterService/Push': change,
  '/tessera.adapter.v1.AdapterService/List': any,
  '/tessera.adapter.v1.AdapterService/Get': any,
  '/tessera.adapter.v1.AdapterService/Activate': change,
  '/tessera.adapter.v1.AdapterService/Rollback': change,
  '/tessera.adapter.v1.AdapterService/Pin': change,
  '/tessera.adapter.v1.AdapterService/Unpin': change,
  '/tessera.adapter.v1.AdapterService/Delete': change,
  '/tessera.weights.v1.WeightsService/Update': change,
  '/tessera.weights.v1.WeightsService/Rollback': change,
  '/tessera.weights.v1.WeightsService/Get': any,
};
