import type { ToolResult } from '../../contract/base/result.ts'
import { toArtifactUri } from '../../kit/result/artifact-uri.ts'
import { quoteArgv } from '../../kit/text/quote-argv.ts'
import { readText } from '../arguments/caller.ts'
import type { CommandLine } from '../base/command.ts'
import { commandName } from '../base/command-name.ts'
import { showLine } from '../base/show-safely.ts'

/** The options by which an artifact is read as the caller that left it. */
const sameCaller = ['tenant', 'actor', 'role', 'home', 'project'] as const
/** Of more, the rest is counted. */
const most = 5

/** Says on the standard error output what a call left, and what to type to read it. */
export function tellArtifacts({ callId: call, artifacts }: ToolResult, given: CommandLine): void {
  const options = sameCaller.flatMap((name) => {
    const value = readText(given, name)
    return value === undefined ? [] : [`--${name}`, value]
  })
  for (const { digest, bytes, mimeType } of artifacts.slice(0, most)) {
    const uri = toArtifactUri({ call, digest })
    const command = `${commandName()} ${quoteArgv(['call', 'artifact.read', `uri=${uri}`, ...options])}`
    process.stderr.write(
      showLine(`handrail: ${bytes} bytes (${mimeType}) are kept; to read them: ${command}`) + '\n',
    )
  }
  if (artifacts.length > most)
    process.stderr.write(`handrail: ${artifacts.length - most} more are kept; --json names them all.\n`)
}
