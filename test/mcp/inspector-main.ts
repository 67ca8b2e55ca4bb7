import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

const inspector = createRequire(import.meta.url).resolve('@modelcontextprotocol/inspector/package.json')
const { runCli, handleError } = (await import(
  pathToFileURL(join(dirname(inspector), 'clients/cli/build/index.js')).href
)) as {
  runCli: (argv: readonly string[]) => Promise<void>
  handleError: (error: unknown) => Promise<void>
}

/** Does what the launcher of the inspector does with `--cli`, in a process that goes on. */
export async function runMain(argv: readonly string[]): Promise<void> {
  const exit = process.exit.bind(process)
  const ended = new Error('The inspector ended its process.')
  process.exit = (code) => {
    process.exitCode = code ?? 0
    throw ended
  }
  try {
    await runCli([process.execPath, 'mcp-inspector', ...argv]).catch(handleError)
  } catch (error) {
    if (error !== ended) throw error
  } finally {
    process.exit = exit
  }
}
