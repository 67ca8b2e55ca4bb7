import { existsSync } from 'node:fs'
import type { UpstreamServer } from '../../contract/mcp/upstream.ts'
import { runStep } from '../packages/run-step.ts'
import type { FeedHost } from '../../contract/mcp/tool-feed.ts'
import type { Unwritable } from './base/upstream.ts'

/** Says as whom it runs, and which of its arguments it cannot write to. */
const script = 'id -un 2>/dev/null || id -u; for each; do [ -w "$each" ] || printf "%s\\n" "$each"; done'

const examineMs = 10_000
export const allWritable: Unwritable = { folders: [], user: '' }

/** Which of the folders that a server may write to by its entry its program cannot write to, as a program in its place finds them. */
export async function findUnwritable(
  { transport }: UpstreamServer,
  { programs }: Pick<FeedHost, 'programs'>,
  tenant: string,
): Promise<Unwritable> {
  if (transport.kind === 'http' || transport.write.length === 0) return allWritable
  const { cwd, read, write } = transport
  const [, ...named] = programs.seenBy({ tenant, cwd, read: [], write })
  // On the host, everything is seen. What is not there is told by itself.
  const folders = named.filter((folder) => folder !== '/' && existsSync(folder))
  const argv = ['sh', '-c', script, 'sh', ...folders]
  const request = { tenant, argv, cwd, env: {}, read, write, hosts: [] }
  const { output } = await runStep(programs, request, AbortSignal.timeout(examineMs))
  const [user = '', ...unwritable] = output.split('\n').filter((line) => line !== '')
  return { folders: unwritable, user }
}
