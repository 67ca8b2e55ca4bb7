// First, so that an older Node is told before anything fails on it.
export {} from './kit/require-node.ts'
export type { ArtifactSink, ArtifactWriter } from './contract/services/sandbox.ts'
export type { Document, DocumentChange, DocumentKind, DocumentQuery } from './contract/documents.ts'
export type {
  ArtifactStore,
  BudgetAnswer,
  BudgetRequest,
  BudgetSettlement,
  ReservationItem,
  ChangedFact,
  Changes,
  CountedEnds,
  EndsQuery,
  Entry,
  Fact,
  FactChange,
  FactKind,
  KeyClaim,
  KeyHeld,
  KeyResolution,
  KeyUse,
  RecordQuery,
  Store,
} from './contract/store.ts'
