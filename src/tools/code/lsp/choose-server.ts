import { extname } from 'node:path'
import type { Commands, Search } from '../../../contract/services/sandbox.ts'
import type { ServerChoice } from './known-servers.ts'
import { globOf } from './search-code.ts'

/** Who answers: a language server, or the search, and why it. */
export type Chosen =
  | { readonly server: ServerChoice; readonly executable: string; readonly anchor: string | undefined }
  | { readonly server: undefined; readonly why: string }

/** Where to choose. */
export interface ChoosePlace {
  readonly commands: Commands
  readonly search: Search
  readonly root: string
}

/** A server for this file; without one, for the first language of which there is a server and a file in the project. */
export async function chooseServer(
  path: string | undefined,
  servers: readonly ServerChoice[],
  place: ChoosePlace,
): Promise<Chosen> {
  if (!place.commands.isolated)
    return {
      server: undefined,
      why: 'a language server runs isolated or not at all, and commands are not isolated here',
    }
  return path === undefined ? chooseForProject(servers, place) : chooseForFile(path, servers, place)
}

async function chooseForFile(
  path: string,
  servers: readonly ServerChoice[],
  { commands, root }: ChoosePlace,
): Promise<Chosen> {
  const extension = extname(path).toLowerCase()
  const fitting = servers.filter(({ extensions }) => extensions.includes(extension))
  for (const server of fitting) {
    const executable = await commands.which(server.command[0] ?? '', root)
    if (executable !== undefined) return { server, executable, anchor: undefined }
  }
  const programs = fitting.map(({ command }) => `"${command[0] ?? ''}"`).join(' nor ')
  const why =
    fitting.length === 0
      ? `no language server is known for "${extension === '' ? path : extension}"`
      : `${fitting.length > 1 ? 'neither ' : ''}${programs} is installed`
  return {
    server: undefined,
    why: fitting.length > 1 ? why : why.replace(' is installed', ' is not installed'),
  }
}

async function chooseForProject(
  servers: readonly ServerChoice[],
  { commands, search, root }: ChoosePlace,
): Promise<Chosen> {
  for (const server of servers) {
    const executable = await commands.which(server.command[0] ?? '', root)
    if (executable === undefined) continue
    const { hits } = await search.find({
      pattern: undefined,
      path: root,
      glob: globOf(server.extensions),
      mode: 'files',
      limit: 1,
      exclude: [],
    })
    if (hits[0] !== undefined) return { server, executable, anchor: hits[0].path }
  }
  return { server: undefined, why: 'no language server is installed for the files of this project' }
}
