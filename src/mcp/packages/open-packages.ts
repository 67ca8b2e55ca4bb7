import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { FeedHost } from '../../contract/mcp/tool-feed.ts'
import { canonicalJson } from '../../kit/json/canonical-json.ts'
import { digest } from '../../kit/json/digest.ts'
import { FetchFailed } from './fetch-failed.ts'
import { fetchWithNpm } from './fetch-with-npm.ts'
import { fetchWithUv } from './fetch-with-uv.ts'
import type { Lock, PackageVersion } from './fetching.ts'
import { findProgram } from './find-program.ts'
import type { PackageCommand } from './package-command.ts'

/** A package that is there. */
export interface ReadyPackage {
  /** Absolute path of its program. */
  readonly program: string
  /** All of it, and of what it needs. Nothing is written there any more. */
  readonly folder: string
  readonly pin: Pin
}

/** What a package was when it was fetched, and is from then on, until the operator says otherwise. */
export interface Pin {
  /** Of the packages that were asked for. */
  readonly versions: readonly PackageVersion[]
  /** What the operator should know of the fetch, in sentences. */
  readonly notes: readonly string[]
  readonly specs: readonly string[]
  /** Milliseconds since the epoch. */
  readonly at: number
}

/** What was pinned before, and what is now. */
export interface PackageUpdate {
  readonly before: Pin | undefined
  readonly now: Pin
}

/** Whose package it is, and what it may be fetched from beside its registry. */
export interface PackageUse {
  readonly tenant: string
  readonly hosts: readonly string[]
}

/** The packages of a person, each fetched once for all of their servers. */
export interface Packages {
  /** The package of a command, fetched where it is not there. Rejects with a `FetchFailed`. */
  open(command: PackageCommand, use: PackageUse): Promise<ReadyPackage>
  /** Where it lies once it is there. */
  folderOf(command: PackageCommand, tenant: string): string
  /** Whether it is being fetched. */
  isFetching(command: PackageCommand, tenant: string): boolean
  /** What is known of it without a fetch. */
  pinOf(command: PackageCommand, tenant: string): Pin | undefined
  /** Fetches what is newest, and pins that. Returns what was there before, and what is now. */
  update(command: PackageCommand, use: PackageUse): Promise<PackageUpdate>
  close(): Promise<void>
}

/** How long a fetch may take. */
const fetchMs = 10 * 60_000

interface StoredPin extends Pin {
  readonly lock: Lock
}

/** Packages in a folder, fetched by programs in the sandbox. */
export function openPackages(
  { programs, web }: Pick<FeedHost, 'programs' | 'web'>,
  folder: string,
): Packages {
  const fetching = new Map<string, Promise<StoredPin>>()
  const closing = new AbortController()
  const placeOf = (command: PackageCommand, tenant: string) => {
    const base = programs.ownFolder(tenant, join(folder, '.packages'))
    const { kind, specs, python } = command
    const key = digest(canonicalJson({ kind, specs, ...(python !== undefined && { python }) })).slice(0, 32)
    return { base, key, folder: join(base, key), pinFile: join(base, `${key}.json`) }
  }
  const fetchAnew = async (
    command: PackageCommand,
    { tenant, hosts }: PackageUse,
    lock: Lock | undefined,
  ): Promise<StoredPin> => {
    const { base, folder: own, pinFile } = placeOf(command, tenant)
    mkdirSync(base, { recursive: true, mode: 0o711 })
    // A place of its own, so that no process ever finds half of a package.
    const place = join(base, `.new-${randomBytes(8).toString('hex')}`)
    mkdirSync(place, { mode: 0o700 })
    const late = AbortSignal.timeout(fetchMs)
    try {
      const signal = AbortSignal.any([closing.signal, late])
      const cache = join(base, `.cache-${command.kind}`)
      const about = { programs, web, tenant, command, folder: place, cache, hosts, lock, signal }
      const fetched = await (command.kind === 'npm' ? fetchWithNpm(about) : fetchWithUv(about))
      const pin: StoredPin = { ...fetched, specs: command.specs, at: Date.now() }
      putInPlace(place, own)
      writeFileSync(`${pinFile}.new`, JSON.stringify(pin, null, 2), { mode: 0o600 })
      renameSync(`${pinFile}.new`, pinFile)
      return pin
    } catch (error) {
      if (late.aborted)
        throw new FetchFailed(`Its package could not be fetched within ${fetchMs / 60_000} minutes.`)
      throw error
    } finally {
      rmSync(place, { recursive: true, force: true })
    }
  }
  const fetchOnce = (
    command: PackageCommand,
    use: PackageUse,
    lock: Lock | undefined,
  ): Promise<StoredPin> => {
    const { folder: own } = placeOf(command, use.tenant)
    const running = fetching.get(own) ?? fetchAnew(command, use, lock).finally(() => fetching.delete(own))
    fetching.set(own, running)
    return running
  }
  return {
    async open(command, use) {
      const { folder: own, pinFile } = placeOf(command, use.tenant)
      const known = fetching.has(own) ? undefined : readPin(pinFile)
      const isThere = known !== undefined && existsSync(own)
      const pin = isThere ? known : await fetchOnce(command, use, known?.lock)
      return { program: findProgram(own, command), folder: own, pin: withoutLock(pin) }
    },
    folderOf: (command, tenant) => placeOf(command, tenant).folder,
    isFetching: (command, tenant) => fetching.has(placeOf(command, tenant).folder),
    pinOf(command, tenant) {
      const pin = readPin(placeOf(command, tenant).pinFile)
      return pin && withoutLock(pin)
    },
    async update(command, use) {
      const before = readPin(placeOf(command, use.tenant).pinFile)
      const now = await fetchOnce(command, use, undefined)
      return { before: before && withoutLock(before), now: withoutLock(now) }
    },
    async close() {
      closing.abort(new Error('Handrail is stopping.'))
      await Promise.allSettled(fetching.values())
    },
  }
}

function withoutLock({ specs, at, versions, notes }: StoredPin): Pin {
  return { specs, at, versions, notes }
}

/** What cannot be read pins nothing. */
function readPin(path: string): StoredPin | undefined {
  if (!existsSync(path)) return undefined
  return JSON.parse(readFileSync(path, 'utf8')) as StoredPin
}

/** What runs on the one before goes on with it: it has it open. */
function putInPlace(place: string, own: string): void {
  const before = join(dirname(own), `.old-${randomBytes(8).toString('hex')}`)
  if (existsSync(own)) renameSync(own, before)
  renameSync(place, own)
  rmSync(before, { recursive: true, force: true })
}
