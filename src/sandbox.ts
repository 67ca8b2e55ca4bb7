// First, so that an older Node is told before anything fails on it.
export {} from './kit/require-node.ts'
export type {
  EffectHistory,
  FileEffect,
  HeldChanges,
  PathEffect,
  PathState,
  PermitChanges,
} from './contract/base/effects.ts'
export type { Network, Pages, WebRequest, WebResponse } from './contract/services/network.ts'
export type {
  CapturedOutput,
  CommandNetwork,
  CommandOutcome,
  Commands,
  DirectoryEntry,
  Files,
  FileStat,
  HeldBack,
  OpenSandbox,
  PermitHost,
  Hold,
  ProgramOwn,
  Sandbox,
  SandboxKind,
  SandboxPlace,
  SandboxServices,
  Search,
  SearchHit,
  SearchRequest,
  Tree,
  TreeBounds,
  TreeTarget,
} from './contract/services/sandbox.ts'
export type { NetworkConfiguration, SandboxConfiguration } from './contract/configuration.ts'
