// First, so that an older Node is told before anything fails on it.
export {} from './kit/require-node.ts'
export { resolveOutcome, type ResolveRequest } from './compose/resolve-outcome.ts'
export type {
  BeginRecord,
  ChainIssue,
  CheckpointRecord,
  EndRecord,
  EvidenceRecord,
  NoteRecord,
  ReservedUnits,
  StoredRecord,
  Verification,
} from './contract/evidence.ts'
export { pruneEvidence, type PruneReport } from './compose/archive/prune-evidence.ts'
export { rebuildArchive, type RebuildRequest } from './compose/archive/rebuild-archive.ts'
export type { RebuildReport } from './evidence/archive/rebuild-archive.ts'
export type { PruneRequest } from './evidence/prune-evidence.ts'
export { openKeyFiles, type Anchor, type KeyFiles, type Mark } from './evidence/chain/key-files.ts'
export { rotateKey, type KeyRotation } from './evidence/chain/rotate-key.ts'
export type { SigningKey } from './evidence/chain/signing-key.ts'
export { verifyEvidence, type VerifyOptions } from './evidence/chain/verify-evidence.ts'
export { exportEvidence, type ExportOptions } from './evidence/export/export-evidence.ts'
export type { ExportHeader } from './evidence/export/export-format.ts'
export { importEvidence, type ImportReport, type ImportRequest } from './evidence/export/import-evidence.ts'
export { verifyExport, type ExportVerification } from './evidence/export/verify-export.ts'
export type { Finding } from './evidence/resolve-outcome.ts'
export type {
  ObserveOptions,
  ObservedAgent,
  ObservedCall,
  ObservedCalls,
  ObservedEnd,
  OwnTool,
} from './contract/observed.ts'
export type { Counterpart } from './contract/base/counterpart.ts'
