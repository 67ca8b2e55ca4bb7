import type { Programs, Web } from '../../contract/mcp/tool-feed.ts'
import type { PackageCommand } from './package-command.ts'

/** A fetch under way. */
export interface Fetching {
  readonly programs: Programs
  readonly web: Web
  readonly tenant: string
  readonly command: PackageCommand
  /** Where the package goes: a folder that is empty. */
  readonly folder: string
  /** What was fetched before, by content. Only a fetch writes there, and runs nothing of a package meanwhile. */
  readonly cache: string
  /** Hosts beside the registry that it may reach. */
  readonly hosts: readonly string[]
  /** What an earlier fetch came to, which this one has to come to as well. */
  readonly lock: Lock | undefined
  readonly signal: AbortSignal
}

/** The very files of a package and of all that it needs: the text of each file that its fetcher writes down, by name. */
export type Lock = Readonly<Record<string, string>>

/** What a fetch came to. */
export interface Fetched {
  readonly lock: Lock
  /** Of the packages that were asked for. */
  readonly versions: readonly PackageVersion[]
  /** What the operator should know of it, in sentences. */
  readonly notes: readonly string[]
}

/** What is pinned of a package. */
export interface PackageVersion {
  readonly name: string
  readonly version: string
  /** As its registry says it. */
  readonly integrity: string | undefined
}
