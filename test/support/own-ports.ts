// A sandbox, a store, a place for artifacts and a feed of tools of a program's own, written with nothing but what the doors export.
import { createHash } from 'node:crypto'
import { ToolFailure, defineTool, type Artifact } from 'handrail'
import type { StoredRecord } from 'handrail/evidence'
import type {
  CommandOutcome,
  Commands,
  DirectoryEntry,
  Files,
  FileStat,
  Network,
  Pages,
  PathState,
  PermitHost,
  ProgramOwn,
  Sandbox,
  SandboxPlace,
  SandboxServices,
  Search,
  SearchRequest,
  Tree,
  TreeBounds,
  TreeTarget,
  WebRequest,
  WebResponse,
} from 'handrail/sandbox'
import type {
  ArtifactStore,
  ArtifactWriter,
  BudgetAnswer,
  BudgetRequest,
  CountedEnds,
  EndsQuery,
  Changes,
  Document,
  DocumentQuery,
  Entry,
  Fact,
  FactKind,
  KeyClaim,
  KeyHeld,
  KeyUse,
  RecordQuery,
  Store,
} from 'handrail/store'
import type { FeedHost, OpenFeed, ToolFeed } from 'handrail/tools'
import type { Profile } from 'handrail/policy'

function refuse(message: string): ToolFailure {
  return new ToolFailure({ code: 'SANDBOX.CAPABILITY_BLOCKED', reason: 'path_outside_roots', message })
}

/** A sandbox whose files lie in memory, and that runs and reaches nothing. */
export function openMemorySandbox(place: SandboxPlace, files: Map<string, string>): Sandbox {
  return {
    kind: 'custom',
    enter(
      profile: Profile,
      about: { access: 'read' | 'write'; permitHost?: PermitHost; own?: ProgramOwn },
    ): SandboxServices {
      const commands: Commands = {
        hosts: profile.hosts,
        isolated: true,
        which: async (): Promise<string | undefined> => undefined,
        run: async (): Promise<CommandOutcome> => {
          throw refuse('No program runs here.')
        },
      }
      const search: Search = {
        find: async ({ path, pattern = '' }: SearchRequest) => ({
          hits: [...files].filter(([, text]) => text.includes(pattern)).map(([name]) => ({ path: name })),
          truncated: path === '',
        }),
      }
      const network: Network = {
        resolve: async (url) => ({ url, host: new URL(url).host }),
        request: async (request: WebRequest): Promise<WebResponse> => {
          throw refuse(`"${request.url}" is not reached from here.`)
        },
      }
      const pages: Pages = { convert: async ({ html }) => ({ title: '', text: html }) }
      return { files: new MemoryFiles(place, files, about.access), search, commands, network, pages }
    },
    describe: () => `files in memory, of ${place.project}`,
    close: async () => files.clear(),
  }
}

class MemoryFiles implements Files {
  readonly #place: SandboxPlace
  readonly #files: Map<string, string>
  readonly #access: 'read' | 'write'

  constructor(place: SandboxPlace, files: Map<string, string>, access: 'read' | 'write') {
    this.#place = place
    this.#files = files
    this.#access = access
  }

  async resolve(path: string): Promise<string> {
    return path.startsWith('/') ? path : `${this.#place.project}/${path}`
  }

  resolveEntry(path: string): Promise<string> {
    return this.resolve(path)
  }

  async stat(path: string): Promise<FileStat | undefined> {
    const text = this.#files.get(await this.resolve(path))
    if (text === undefined) return undefined
    return { kind: 'file', size: text.length, mtimeMs: 0, ctimeMs: 0, mode: 0o600, dev: 0, ino: 0 }
  }

  async read(path: string): Promise<{ bytes: Uint8Array; stat: FileStat }> {
    const stat = await this.stat(path)
    if (stat === undefined) throw refuse(`There is no "${path}".`)
    return { bytes: Buffer.from(this.#files.get(await this.resolve(path)) ?? ''), stat }
  }

  async *chunks(path: string): AsyncIterable<Uint8Array> {
    yield (await this.read(path)).bytes
  }

  async list(): Promise<{ entries: DirectoryEntry[]; truncated: boolean }> {
    const entries = [...this.#files].map(([path, { length }]) => ({
      path,
      kind: 'file' as const,
      size: length,
    }))
    return { entries, truncated: false }
  }

  async write(path: string, bytes: Uint8Array): Promise<FileStat> {
    if (this.#access === 'read') throw refuse('This call only reads.')
    this.#files.set(await this.resolve(path), Buffer.from(bytes).toString())
    return (await this.read(path)).stat
  }

  async state(path: string): Promise<PathState> {
    const text = this.#files.get(await this.resolve(path))
    if (text === undefined) return { kind: 'none' }
    const digest = `sha256:${createHash('sha256').update(text).digest('hex')}`
    return { kind: 'file', mode: 0o600, bytes: text.length, digest }
  }

  async restore(): Promise<void> {
    throw refuse('Nothing is taken back here.')
  }

  async survey(
    _path: string,
    _options: TreeBounds & { purpose: 'read' | 'write' },
  ): Promise<Tree | undefined> {
    return undefined
  }

  async copy(_from: string, _to: string, _options: TreeTarget): Promise<void> {
    throw refuse('Nothing is copied here.')
  }

  async move(_from: string, _to: string, _options: TreeTarget): Promise<void> {
    throw refuse('Nothing is moved here.')
  }

  async remove(path: string): Promise<void> {
    this.#files.delete(await this.resolve(path))
  }
}

/** Artifacts in a map. */
export class MapArtifacts implements ArtifactStore {
  readonly kept = new Map<string, Uint8Array>()

  async put(bytes: Uint8Array, about: { mimeType: string; name?: string }): Promise<Artifact> {
    const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`
    this.kept.set(digest, bytes)
    return { digest, bytes: bytes.length, ...about }
  }

  open(about: { mimeType: string; name?: string }): ArtifactWriter {
    const pieces: Uint8Array[] = []
    return {
      write: (bytes) => void pieces.push(Uint8Array.from(bytes)),
      finish: () => this.put(Buffer.concat(pieces), about),
      abandon: async () => {},
    }
  }

  async get(digest: string): Promise<Uint8Array | undefined> {
    return this.kept.get(digest)
  }

  async read(digest: string): Promise<{ bytes: Uint8Array; total: number } | undefined> {
    const bytes = this.kept.get(digest)
    return bytes && { bytes, total: bytes.length }
  }

  async prune({ mayGo }: { at: number; mayGo: (digest: string) => boolean }): Promise<number> {
    const gone = [...this.kept.keys()].filter(mayGo)
    for (const digest of gone) this.kept.delete(digest)
    return gone.length
  }
}

/** A store in front of another one, which counts what is appended. */
export class CountingStore implements Store {
  appended = 0
  readonly #inner: Store

  constructor(inner: Store) {
    this.#inner = inner
  }

  get description(): string {
    return `counted: ${this.#inner.description}`
  }

  get writer(): string {
    return this.#inner.writer
  }

  get durable(): boolean {
    return this.#inner.durable
  }

  get readOnly(): string | undefined {
    return this.#inner.readOnly
  }

  append(entries: readonly Entry[], changes?: Changes): Promise<void> | undefined {
    this.appended += entries.length
    return this.#inner.append(entries, changes)
  }

  records(query: RecordQuery): IterableIterator<StoredRecord> {
    return this.#inner.records(query)
  }

  countEnds(query: EndsQuery): CountedEnds[] {
    return this.#inner.countEnds(query)
  }

  countPrunable(before: { tenant?: string; at: number }): number {
    return this.#inner.countPrunable(before)
  }

  tenants(): string[] {
    return this.#inner.tenants()
  }

  digest(text: string): string {
    return this.#inner.digest(text)
  }

  head(tenant: string): { sequence: number; hash: string; bodiless?: number } | undefined {
    return this.#inner.head(tenant)
  }

  examine(): readonly string[] {
    return this.#inner.examine()
  }

  lives(writer: string): boolean {
    return this.#inner.lives(writer)
  }

  orphans(): { tenant: string; call: string }[] {
    return this.#inner.orphans()
  }

  findKey(use: KeyUse): KeyHeld | undefined {
    return this.#inner.findKey(use)
  }

  claimKey(use: KeyUse): KeyClaim {
    return this.#inner.claimKey(use)
  }

  facts(kind: FactKind, tenant?: string): Fact[] {
    return this.#inner.facts(kind, tenant)
  }

  factsVersion(): number {
    return this.#inner.factsVersion()
  }

  documents(query: DocumentQuery): Document[] {
    return this.#inner.documents(query)
  }
  factsSince(kind: FactKind, version: number): ReturnType<Store['factsSince']> {
    return this.#inner.factsSince(kind, version)
  }

  reserve(request: BudgetRequest): BudgetAnswer {
    return this.#inner.reserve(request)
  }

  refund(call: string): void {
    this.#inner.refund(call)
  }

  balance(account: string, at: number): { spent: number; reserved: number } {
    return this.#inner.balance(account, at)
  }

  prune(before: { tenant?: string; at: number }): number {
    return this.#inner.prune(before)
  }

  close(): Promise<void> {
    return this.#inner.close()
  }
}

/** A feed with one tool, which comes while the runtime lives. */
export function makeFeed(): ToolFeed {
  const tool = defineTool({
    name: 'own.hello',
    description: 'Says hello.',
    permission: 'readonly',
    run: () => 'hello',
  })
  return {
    id: 'own',
    async open(host: FeedHost): Promise<OpenFeed> {
      const source = { id: 'own', kind: 'code' as const }
      await host.change({ source, tools: [tool], faulty: [], removed: [], tenants: undefined })
      return { settled: async () => {}, close: async () => {} }
    },
  }
}
