import { chmodSync, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { codeTools, type RuntimeOptions } from 'handrail'
import { makeFolder, openRuntime, personSaying } from './project.ts'

/** A project, a store on disk beside it, and a person who says yes to everything. */
export async function openProject(
  files: Readonly<Record<string, string | Uint8Array>> = {},
  options: RuntimeOptions = {},
) {
  const project = options.project ?? makeFolder(files)
  const kept = makeFolder()
  chmodSync(kept, 0o700)
  const person = personSaying('allow_once')
  const runtime = await openRuntime({
    project,
    tools: [codeTools()],
    sandbox: 'host',
    store: { path: join(kept, 'store.db') },
    approve: person.approve,
    ...options,
  })
  return {
    project,
    kept,
    history: join(kept, 'store.db.history'),
    person,
    runtime,
    session: runtime.session(),
  }
}

/** Every name below a folder with what it is: mode and content, or where a link leads. */
export function imageOf(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()
  return Object.fromEntries(
    names.map((name) => {
      const path = join(folder, name)
      const stat = lstatSync(path)
      const mode = (stat.mode & 0o777).toString(8)
      if (stat.isSymbolicLink()) return [name, `link ${readlinkSync(path)}`]
      return [name, stat.isDirectory() ? `folder ${mode}` : `${mode} ${readFileSync(path, 'base64')}`]
    }),
  )
}
