import { join } from 'node:path'
import { createRegistry } from '../../agents/skills/create-registry.ts'
import { SetupError } from '../../contract/base/errors.ts'
import type { Issue } from '../../contract/base/json.ts'
import type { SkillDefinition, SkillRegistry } from '../../contract/base/skill.ts'
import { findUnknownFields } from '../../kit/json/find-unknown-fields.ts'
import { readNarrowing } from './read-narrowing.ts'

/** Where skills come from. Unknown fields are refused. */
export interface SkillOptions {
  /** Those of the program. */
  skills?: readonly SkillDefinition[]
  /** The home folder, whose `skills` folder the person chose. Absolute. Default: none. */
  home?: string
  /** Names of packages with skills, which lie in the `node_modules` of a project. Default: none. */
  packages?: readonly string[]
  /** Whether the folders `.agents/skills` and `.claude/skills` of a project count. Default true. */
  projectFiles?: boolean
}

const fields: readonly (keyof SkillOptions)[] = ['skills', 'home', 'packages', 'projectFiles']

/** The form of the name of a package, which leads to no other folder. */
export const packageName = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/

/**
 * The skills that a model can load. Files are read when it is asked. Throws a SetupError with every issue of the options.
 */
export function createSkillRegistry(options: SkillOptions = {}): SkillRegistry {
  const { skills = [], home, packages = [], projectFiles = true } = options
  const issues: Issue[] = findUnknownFields(options, fields)
  const wrong = (pointer: string, message: string) => issues.push({ pointer, code: 'wrong_type', message })
  if (!Array.isArray(skills)) wrong('/skills', 'Give a list of skills.')
  if (home !== undefined && typeof home !== 'string') wrong('/home', 'Give the path of a folder.')
  if (typeof projectFiles !== 'boolean') wrong('/projectFiles', 'Give true or false.')
  if (!Array.isArray(packages)) wrong('/packages', 'Give a list of names of packages.')
  else
    for (const [index, name] of packages.entries())
      if (typeof name !== 'string' || !packageName.test(name))
        wrong(`/packages/${index}`, `"${String(name)}" is not the name of a package.`)
  if (issues.length > 0)
    throw new SetupError('invalid_options', 'These options of createSkillRegistry cannot be used:', issues)
  const folder = home === undefined ? undefined : join(home, 'skills')
  return createRegistry({ skills, folder, packages, projectFiles, readNarrowing })
}
