import { accessSync, constants } from 'node:fs'
import { dirname } from 'node:path'
import { ToolFailure } from '../../contract/base/errors.ts'
import { quoteArgument } from '../../kit/text/quote-argv.ts'

/** What to say where this process cannot look at a place that it guards; any other error as it is. */
export function closedPlace(error: unknown, path: string): unknown {
  if (!(error instanceof Error) || !('code' in error) || error.code !== 'EACCES') return error
  const folder = findClosed(path)
  return new ToolFailure({
    reason: 'permission_denied',
    message: `The command was not run: Handrail may not look into "${folder}", in which it protects what other programs obey. Let the person give its owner the rights back: chmod u+rwx ${quoteArgument(folder)}`,
    data: { path: folder },
  })
}

/** The outermost folder on the way to a path that this process may not enter; the path itself where it may only not list that. */
function findClosed(path: string): string {
  const folders: string[] = []
  for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder))
    folders.unshift(folder)
  return folders.find((folder) => !mayEnter(folder)) ?? path
}

function mayEnter(folder: string): boolean {
  try {
    accessSync(folder, constants.X_OK)
    return true
  } catch {
    return false
  }
}
