import type { Plan, PlanContext } from '../../../contract/tool/plan.ts'
import type { ContextWith } from '../../../define/tool-spec.ts'
import { checkPath } from '../base/check-path.ts'
import { exclusionsFor } from '../base/exclusions.ts'
import { fileNotFound } from '../base/file-not-found.ts'

/** The plan of a tool that looks through a file, or a directory and all below it. */
export async function planLook(asked: string, { files }: PlanContext): Promise<Plan & { planned: string }> {
  const path = await files.resolve(asked, 'read')
  const recursive = (await files.stat(path))?.kind === 'directory'
  return { operations: [{ kind: 'fs.read', path, recursive }], scope: path, planned: path }
}

/** Where to look and what to leave out. Fails if nothing is there, or where the path leads elsewhere by now. */
export async function openLook({
  files,
  project,
  sensitiveGlobs,
  planned: path,
}: ContextWith<'files', string>): Promise<{ exclude: string[]; isDirectory: boolean }> {
  await checkPath(files, path, 'read')
  const stat = await files.stat(path)
  if (stat === undefined) throw await fileNotFound(files, project, path)
  return { exclude: exclusionsFor(path, sensitiveGlobs), isDirectory: stat.kind === 'directory' }
}

/** What a model is told where nothing was found: a file that it did not write may be why. */
export const ignoredNote = '[What ignore files such as .gitignore name was not looked at.]'

/** What a model is told of what was left out. */
export const excludedNote = '[Sensitive paths, such as .env files and keys, were left out.]'
