import type { UpstreamServer } from '../../../contract/mcp/upstream.ts'
import type { PackageCommand } from '../../packages/package-command.ts'
import { readPackageCommand } from '../../packages/read-package-command.ts'

/** The package that the command of a server fetches, and hosts that it may come from beside its registry. Undefined if it fetches none, or may not. */
export function findPackage({
  transport,
}: UpstreamServer): { command: PackageCommand; hosts: readonly string[] } | undefined {
  if (transport.kind === 'http' || transport.fetch === undefined) return undefined
  const command = readPackageCommand(transport.command, transport.args)
  return command && { command, hosts: transport.fetch }
}
