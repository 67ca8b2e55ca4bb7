import type { Bounds } from '../../contract/policy.ts'
import { intersect, meetHosts, meetPatterns, meetRoots } from '../intersect.ts'
import type { CompiledGrant, Reach } from './compile-grant.ts'

/**
 * What these grants together leave of the bounds: of each kind the union of what they give. Where one of them does not bound a
 * kind, the bounds alone do.
 */
export function narrowBounds(grants: readonly CompiledGrant[], base: Bounds): Bounds {
  const { capabilities } = base
  const union = (pick: (reach: Reach) => readonly string[] | undefined) => {
    const given = grants.map(({ reach }) => pick(reach))
    return given.includes(undefined) ? undefined : given.flatMap((list) => list ?? [])
  }
  const read = union((reach) => reach.read)
  const write = union((reach) => reach.write)
  const hosts = union((reach) => reach.hosts)
  const executables = union((reach) => reach.executables)
  if (read === undefined && write === undefined && hosts === undefined && executables === undefined)
    return base
  return {
    ...base,
    capabilities: {
      ...capabilities,
      fs: {
        read: narrow(capabilities.fs.read, read, meetRoots),
        write: narrow(capabilities.fs.write, write, meetRoots),
      },
      net: { hosts: narrow(capabilities.net.hosts, hosts, meetHosts) },
      proc: { executables: narrow(capabilities.proc.executables, executables, meetPatterns) },
    },
  }
}

function narrow(
  bound: readonly string[],
  given: readonly string[] | undefined,
  meet: typeof meetRoots,
): readonly string[] {
  return given === undefined ? bound : intersect(bound, given, meet)
}
