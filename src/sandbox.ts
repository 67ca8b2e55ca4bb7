// First, so that an older Node is told before anything fails on it.
export {} from './kit/require-node.ts'
export type { Network, Pages, WebRequest, WebResponse } from './contract/base/network.ts'
export type {
  CapturedOutput,
  CommandNetwork,
  CommandOutcome,
  Commands,
  DirectoryEntry,
  FileEffect,
  Files,
  FileStat,
  OpenSandbox,
  PermitHost,
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
} from './contract/base/sandbox.ts'
export type { NetworkConfiguration, SandboxConfiguration } from './contract/configuration.ts'
