import type { CallError } from '../contract/base/errors.ts'
import type { Operation } from '../contract/tool/plan.ts'
import type { Profile } from '../contract/base/profile.ts'
import { callError } from '../kit/result/call-error.ts'
import { isInside } from '../kit/match/is-inside.ts'
import { matchHost } from '../kit/match/match-host.ts'
import { isProgram } from './commands/match-program.ts'

/** The first operation that lies outside the profile, as an error; undefined if all lie inside. */
export function guardOperations(profile: Profile, operations: readonly Operation[]): CallError | undefined {
  for (const operation of operations) {
    const refused = guardOperation(profile, operation)
    if (refused !== undefined)
      return callError('SANDBOX.CAPABILITY_BLOCKED', refused.reason, { message: refused.message })
  }
  return undefined
}

function guardOperation(
  profile: Profile,
  operation: Operation,
): { reason: string; message: string } | undefined {
  switch (operation.kind) {
    case 'fs.read':
      if (profile.readRoots.some((root) => isInside(operation.path, root))) return undefined
      return {
        reason: 'path_outside_roots',
        message: describeOutside(operation.path, 'read', profile.readRoots),
      }
    case 'fs.write':
      if (profile.writeRoots.some((root) => isInside(operation.path, root))) return undefined
      return {
        reason: 'write_outside_allowed_roots',
        message: describeOutside(operation.path, 'write', profile.writeRoots),
      }
    case 'process':
      if (
        profile.executables.some(
          (pattern) => pattern === '*' || isProgram(pattern, operation, profile.writeRoots),
        )
      )
        return undefined
      return {
        reason: 'executable_blocked',
        message: `"${operation.executable}" is not among the programs this call may start (${list(profile.executables)}).`,
      }
    case 'net':
      if (profile.hosts.some((pattern) => matchHost(pattern, operation.host))) return undefined
      return {
        reason: 'host_blocked',
        message: `"${operation.host}" is not among the hosts this call may reach (${list(profile.hosts)}).`,
      }
    case 'other':
      return undefined
  }
}

function describeOutside(path: string, access: 'read' | 'write', roots: readonly string[]): string {
  if (roots.length > 0)
    return `"${path}" lies outside the directories this call may ${access} (${roots.join(', ')}). Use a path inside them.`
  return `"${path}" is out of reach: this call may ${access} in no directory. Its tool declares none under "capabilities.fs.${access}", or no grant leaves one.`
}

function list(items: readonly string[]): string {
  return items.length === 0 ? 'none' : items.join(', ')
}
