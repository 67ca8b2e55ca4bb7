import { join } from 'node:path'
import { ToolFailure } from '../../contract/base/errors.ts'
import type { Deliverable } from '../../contract/deliverable.ts'
import type { Profile } from '../../contract/base/profile.ts'
import type { Artifact } from '../../contract/base/result.ts'
import type { Files } from '../../contract/services/sandbox.ts'
import { isInside } from '../../kit/match/is-inside.ts'
import type { TenantContext } from '../state/scope.ts'

const maxBytes = 64 * 1024 * 1024

/** Where deliverables are looked for, since when they count, and whether they become artifacts. */
export interface Collection {
  readonly tenant: TenantContext
  /** Milliseconds since the epoch, by the clock of the system. */
  readonly since: number
  readonly keep: boolean
}

/** Files have times of the system's ticks. */
const tickMs = 20

/** What became of these paths; with `keep`, files that are there become artifacts. Never rejects for what lies in the project. */
export async function collectDeliverables(
  paths: readonly string[],
  collection: Collection,
): Promise<Deliverable[]> {
  const { tenant } = collection
  const { files } = tenant.sandbox.enter(projectProfile(tenant), { access: 'read' })
  const collected: Deliverable[] = []
  for (const path of paths) collected.push(await collect(path, { ...collection, files }))
  return collected
}

/** Whether all that was to be delivered is there. */
export function isComplete(deliverables: readonly Deliverable[]): boolean {
  return deliverables.every(({ status }) => status === 'delivered')
}

async function collect(
  path: string,
  { tenant, files, since, keep }: Collection & { files: Files },
): Promise<Deliverable> {
  try {
    const folder = join(await files.resolve('.', 'read'), 'deliverables')
    const place = await files.resolve(path, 'read')
    if (!isInside(place, folder)) return blocked(path, 'path_outside_roots')
    if (tenant.policy.sensitivePaths([place]).length > 0) return blocked(path, 'sensitive_path')
    const stat = await files.stat(place)
    if (stat === undefined) return { path, status: 'missing' }
    if (stat.kind !== 'file') return blocked(path, 'not_a_file')
    if (stat.size > maxBytes) return blocked(path, 'file_too_large')
    if (stat.ctimeMs < since - tickMs) return { path, status: 'stale', bytes: stat.size }
    if (!keep) return { path, status: 'delivered', bytes: stat.size }
    const { digest, bytes } = await keepFile(place, path, { tenant, files })
    return { path, status: 'delivered', bytes, digest }
  } catch (error) {
    if (error instanceof ToolFailure) return blocked(path, error.reason)
    tenant.logError({ call: '', tool: '', cause: error })
    return blocked(path, 'failed')
  }
}

function blocked(path: string, reason: string): Deliverable {
  return { path, status: 'blocked', reason }
}

async function keepFile(
  place: string,
  name: string,
  { tenant, files }: { tenant: TenantContext; files: Files },
): Promise<Artifact> {
  const { bytes } = await files.read(place, { maxBytes })
  return tenant.artifacts.put(bytes, { mimeType: 'application/octet-stream', name })
}

/** The project, to look at. */
function projectProfile({ project, limits }: TenantContext): Profile {
  return {
    readRoots: [project],
    writeRoots: [],
    hosts: [],
    executables: [],
    browser: false,
    tmp: false,
    secrets: [],
    timeoutMs: limits.maxTimeoutMs,
    maxBytesIn: limits.maxBytesIn,
    maxBytesOut: limits.maxBytesOut,
    digest: '',
  }
}
