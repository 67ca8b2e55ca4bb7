import { findRipgrep } from '../search/find-ripgrep.ts'
import { runProgram } from '../programs/run-program.ts'
import type { Finding } from './finding.ts'
import { messageOf } from '../../kit/text/message-of.ts'

const oldestNode = 24

/** Node, and ripgrep for searches. */
export async function examinePrograms(path: string): Promise<Finding[]> {
  const node = Number(process.versions.node.split('.')[0])
  return [
    {
      id: 'node',
      holds: node >= oldestNode,
      needed: true,
      detail: `Node ${process.versions.node}; at least ${oldestNode} is needed`,
    },
    await examineRipgrep(path),
  ]
}

async function examineRipgrep(path: string): Promise<Finding> {
  const finding = (holds: boolean, detail: string) => ({ id: 'ripgrep', holds, needed: true, detail })
  try {
    const program = await findRipgrep(path)
    const { exitCode, stdout } = await runProgram({
      argv: [program, '--version'],
      cwd: '/',
      env: { PATH: path },
      timeoutMs: 10_000,
    })
    return finding(exitCode === 0, `${stdout.split('\n')[0] ?? ''} at ${program}`)
  } catch (error) {
    return finding(false, messageOf(error))
  }
}
