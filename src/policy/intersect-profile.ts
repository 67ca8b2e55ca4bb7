import type { Bounds } from '../contract/policy.ts'
import type { Profile } from '../contract/base/profile.ts'
import type { Capabilities, ToolDefinition } from '../contract/tool/tool.ts'
import { canonicalJson } from '../kit/json/canonical-json.ts'
import { digest } from '../kit/json/digest.ts'
import { intersect, meetHosts, meetPatterns, meetRoots, type Meet } from './intersect.ts'

/** What `project` and `tmp` mean in a manifest's roots. */
export interface Places {
  project: string
  tmp: string
}

/**
 * What a call may touch: what was granted to the session, narrowed by what the manifest declares, narrowed by what the
 * policy bounds. The three are independent; an empty list in any of them leaves nothing.
 */
export function intersectProfile(
  grant: Bounds,
  definition: ToolDefinition,
  limits: { policy: Bounds; places: Places; defaultTimeoutMs: number },
): Profile {
  const { policy, places } = limits
  const manifest = definition.capabilities
  const all = [grant.capabilities, manifest, policy.capabilities]
  const narrow = (pick: (capabilities: Capabilities) => readonly string[], meet: Meet) =>
    all
      .map((capabilities) => pick(capabilities).map((item) => placeOf(item, places)))
      .reduce((left, right) => intersect(left, right, meet))
  const tmp = all.every((capabilities) => capabilities.tmp)
  // What is below it, such as a project that lies there, is another root.
  const withoutTmp = (roots: string[]) => (tmp ? roots : roots.filter((root) => root !== places.tmp))
  const content = {
    readRoots: narrow((capabilities) => [...capabilities.fs.read, ...capabilities.fs.write], meetRoots),
    writeRoots: withoutTmp(narrow((capabilities) => capabilities.fs.write, meetRoots)),
    hosts: narrow((capabilities) => capabilities.net.hosts, meetHosts),
    executables: narrow((capabilities) => capabilities.proc.executables, meetPatterns),
    browser: all.every((capabilities) => capabilities.browser),
    tmp,
    secrets: narrow((capabilities) => capabilities.secrets, meetPatterns),
    timeoutMs: Math.min(
      grant.limits.timeoutMs,
      definition.limits.timeoutMs ?? limits.defaultTimeoutMs,
      policy.limits.timeoutMs,
    ),
    maxBytesIn: Math.min(grant.limits.maxBytesIn, definition.limits.maxBytesIn, policy.limits.maxBytesIn),
    maxBytesOut: Math.min(grant.limits.maxBytesOut, definition.limits.maxBytesOut, policy.limits.maxBytesOut),
  }
  return Object.freeze({ ...content, digest: digest(canonicalJson(content)) })
}

function placeOf(item: string, places: Places): string {
  if (item === 'project') return places.project
  return item === 'tmp' ? places.tmp : item
}
