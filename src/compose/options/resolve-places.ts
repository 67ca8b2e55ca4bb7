import { realpathSync, statSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { isAbsolute, resolve } from 'node:path'
import type { Issue } from '../../contract/base/json.ts'
import type { RuntimeOptions } from './runtime-options.ts'

/** The folders a runtime works with, absolute and with links resolved. */
export interface Places {
  project: string
  home: string
  tmp: string
  readRoots: readonly string[]
  /** Each is a read root too. */
  writeRoots: readonly string[]
}

/** Finds the folders that the options name; whatever is not there is an issue. */
export function resolvePlaces(options: RuntimeOptions): { places: Places; issues: readonly Issue[] } {
  const issues: Issue[] = []
  const project = resolveProject(options.project ?? process.cwd(), issues)
  const home = realPlace(options.home ?? homedir())
  const tmp = realpathSync(tmpdir())
  const expand = (field: 'readRoots' | 'writeRoots') =>
    toTexts(options[field]).flatMap((root, index) => {
      const expanded = expandRoot(root, home)
      if ('path' in expanded) return [expanded.path]
      issues.push({ pointer: `/${field}/${index}`, code: 'invalid_root', message: expanded.issue })
      return []
    })
  const read = expand('readRoots')
  const writeRoots = [project, ...expand('writeRoots'), ...(options.tmp === true ? [tmp] : [])]
  return { places: { project, home, tmp, readRoots: [...read, ...writeRoots], writeRoots }, issues }
}

/** The real path of what is there, else the path itself. */
export function realPlace(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

/** A path that begins with the home folder's sign, written out. */
export function expandHome(path: string, home = homedir()): string {
  return path === '~' || path.startsWith('~/') ? `${home}${path.slice(1)}` : path
}

/** What is not a list of texts is an issue of form, found elsewhere. */
function toTexts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

function resolveProject(project: string, issues: Issue[]): string {
  const path = resolve(project)
  const issue = (message: string) => issues.push({ pointer: '/project', code: 'project_missing', message })
  try {
    if (statSync(path).isDirectory()) return realpathSync(path)
    issue(`The project "${path}" is not a folder. Name a folder.`)
  } catch {
    issue(`The project folder "${path}" does not exist. Create it, or name another one.`)
  }
  return path
}

function expandRoot(root: string, home: string): { path: string } | { issue: string } {
  const path = expandHome(root, home)
  if (!isAbsolute(path))
    return { issue: `The root "${root}" is not an absolute path. Write it from "/" or "~/" on.` }
  try {
    return { path: realpathSync(path) }
  } catch {
    return { issue: `The root "${root}" does not exist. Create it, or take it out of the configuration.` }
  }
}
